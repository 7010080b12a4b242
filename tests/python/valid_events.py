"""One valid event of every kind and more: ends of domains, odd fractions, nesting."""
from epsledger import events as e

GAUSSIAN = e.Gaussian(noise_multiplier=1.1)
STEP = e.PoissonSampled(sampling_probability=0.01, event=GAUSSIAN)

VALID_EVENTS = [
    GAUSSIAN,
    e.Gaussian(noise_multiplier=5e-324),
    e.Gaussian(noise_multiplier=1 / 3),
    e.Laplace(noise_multiplier=1e6),
    e.DiscreteGaussian(sigma=3.5, sensitivity=2**53),
    e.DiscreteLaplace(noise_parameter=0.5, sensitivity=1),
    e.RandomizedResponse(noise_parameter=0.25, num_buckets=2),
    e.ExponentialMechanism(epsilon=0),
    e.PermuteAndFlip(epsilon=0.1),
    e.PureDp(epsilon=0.0),
    e.ApproximateDp(epsilon=1, delta=1e-300),
    e.Zcdp(rho=0.5, xi=0.25),
    e.Zcdp(rho=0),
    e.GaussianDp(mu=0.7),
    e.RenyiCurve(orders=[1.5, 2, 64], divergences=[0, 0.1, 7]),
    e.TradeOffCurve(type_one=[0, 0.25, 1], type_two=[0.75, 0.5, 0]),
    e.MixtureOfGaussians(noise_multiplier=2, sensitivities=[0, 1, 2], probabilities=[0.25, 0.25, 0.5]),
    STEP,
    e.PoissonSampled(sampling_probability=1, event=e.Laplace(noise_multiplier=2)),
    e.TruncatedPoissonSampled(sampling_probability=0.1, max_batch_size=5, dataset_size=10, event=GAUSSIAN),
    e.SampledWithoutReplacement(dataset_size=100, sample_size=7, event=GAUSSIAN),
    e.SampledWithReplacement(dataset_size=100, sample_size=7, event=GAUSSIAN),
    e.RandomAllocation(rounds=10, selected=2, event=GAUSSIAN),
    e.Composed(events=[e.CountedEvent(event=STEP, count=3), e.CountedEvent(event=e.Laplace(noise_multiplier=3))]),
    e.SelfComposed(event=STEP, count=10_000),
    e.TreeAggregation(noise_multiplier=4, step_count=16),
    e.BandedMatrixFactorization(noise_multiplier=4, bands=4, iterations=1000, sampling_probability=0.25),
    e.RepeatAndSelect(event=e.SelfComposed(event=STEP, count=5), mean=10, shape=1),
    e.RepeatAndSelect(event=e.PureDp(epsilon=0.1), mean=10, shape=float("inf")),
    e.UnverifiedClaim(epsilon=1, delta=1e-6, citation='an "odd" \\ text\nε ≤ 1'),
    e.NonPrivate(reason="a test"),
    e.NonPrivate(),
<<<<<<< HEAD
    e.DominatingPair(first_probabilities=[0.5, 0.25, 0.25], second_probabilities=[0.25, 0.25, 0.5]),
    e.DominatingPair(first_probabilities=[0.1, 0.2, 0.7], second_probabilities=[0, 0.3, 0.7 - 1e-12]),
=======
    e.ReportNoisyMax(noise="LAPLACE", noise_multiplier=2),
    e.ReportNoisyMax(noise="GUMBEL", noise_multiplier=1 / 3, monotonic=True),
    e.ReportNoisyMax(noise="EXPONENTIAL", noise_multiplier=5),
    e.AboveThreshold(threshold_noise_multiplier=2, query_noise_multiplier=20, cutoff=5),
    e.AboveThreshold(threshold_noise_multiplier=5e-324, query_noise_multiplier=1e300, cutoff=2**53, monotonic=True),
    e.PartitionSelection(noise="LAPLACE", noise_multiplier=1, threshold=12),
    e.PartitionSelection(noise="GAUSSIAN", noise_multiplier=1.5, threshold=0.5),
    e.TruncatedGeometricSelection(epsilon=0, delta=1),
    e.TruncatedGeometricSelection(epsilon=1, delta=1e-6),
    e.Shuffled(reports=1000, event=e.RandomizedResponse(noise_parameter=0.5, num_buckets=3)),
>>>>>>> e022570e (clients, tests: noisy maxima, sparse vectors, partitions, shuffled reports)
]
