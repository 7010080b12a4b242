"""The per-sample work of one step in PyTorch, as fast as we know how to write it.

Hooks keep what each layer read and the gradient of what it gave. Fully connected layers have their norms
from these two alone (Goodfellow 2015) and their clipped sum from one product; convolutions form each
sample's gradient once, by unfolding, and keep it for the norm and for the sum. functorch's
vmap(grad) and libraries that store every sample's gradient do more: 4.3 GB of it at batch 256.
"""
import torch
import torch.nn.functional as functional


def network():
    layers = torch.nn
    return layers.Sequential(
        layers.Conv2d(1, 32, 5, padding=2), layers.Tanh(), layers.MaxPool2d(2),
        layers.Conv2d(32, 64, 5, padding=2), layers.Tanh(), layers.MaxPool2d(2), layers.Flatten(),
        layers.Linear(3136, 1000), layers.Tanh(), layers.Linear(1000, 1000), layers.Tanh(),
        layers.Linear(1000, 10))


class ClippedStep:
    def __init__(self, batch_size, clip_norm):
        torch.manual_seed(1)
        self.clip_norm = clip_norm
        self.images = torch.rand(batch_size, 1, 28, 28)
        self.labels = torch.arange(batch_size) % 10
        self.network = network()
        for parameter in self.network.parameters():
            parameter.requires_grad_(False)
        self.layers = [layer for layer in self.network if hasattr(layer, "weight")]
        self.inputs = {}
        for layer in self.layers:
            layer.register_forward_hook(self._keep)

    def _keep(self, layer, inputs, output):
        # A leaf of its own gets the gradient, so that autograd computes none for parameters.
        probe = torch.zeros_like(output, requires_grad=True)
        self.inputs[layer] = (inputs[0].detach(), probe)
        return output + probe

    def run(self):
        """Forward, backward, per-sample norms, clipped sum; returns the sum's parts."""
        loss = functional.cross_entropy(self.network(self.images), self.labels, reduction="sum")
        gradients = torch.autograd.grad(loss, [self.inputs[layer][1] for layer in self.layers])
        squared = torch.zeros(len(self.labels))
        kept = []
        with torch.no_grad():
            for layer, gradient in zip(self.layers, gradients):
                inputs = self.inputs[layer][0]
                if isinstance(layer, torch.nn.Linear):
                    squared += gradient.square().sum(1) * (inputs.square().sum(1) + 1)
                    kept.append((inputs, gradient))
                else:
                    patches = functional.unfold(inputs, layer.kernel_size, padding=layer.padding)
                    flat = gradient.flatten(2)
                    weight = torch.bmm(flat, patches.transpose(1, 2)).flatten(1)
                    bias = flat.sum(2)
                    squared += weight.square().sum(1) + bias.square().sum(1)
                    kept.append((weight, bias))
            factors = (self.clip_norm / squared.sqrt()).clamp(max=1)
            total = []
            for layer, (first, second) in zip(self.layers, kept):
                if isinstance(layer, torch.nn.Linear):
                    weighted = second * factors[:, None]
                    total += [weighted.t() @ first, weighted.sum(0)]
                else:
                    total += [factors @ first, factors @ second]
        return total
