package dev.epsledger;

import dev.epsledger.v1.Refusal;
import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** A channel with its retries, and what was seen through it. Safe for concurrent use. */
final class Connection {
  private final SeenHeads heads = new SeenHeads();
  private final ManagedChannel channel;
  private final Retry retry;

  Connection(ManagedChannel channel, Retry retry) {
    this.channel = channel;
    this.retry = retry;
  }

  SeenHeads heads() {
    return heads;
  }

  ManagedChannel channel() {
    return channel;
  }

  /** Makes a call that may be repeated without harm. */
  <Q, A> A call(MethodDescriptor<Q, A> method, Q request) {
    Tries<A> tries = tries(method, request);
    if (tries.error() == null) {
      return tries.answer();
    }
    tries.error().detailsOf(Refusal.class).stream().findFirst().ifPresent(plan -> {
      throw new RefusedException("", plan); // a session's plan that does not fit
    });
    String after = tries.count() > 1 ? ", after " + tries.howItWent() : "";
    throw new CallFailedException(tries.error().code(), tries.error().message() + after);
  }

  /**
   * Asks, always with the same request, until the outcome is definite or the tries or the time are
   * used up, and at least once. No more tries are made once the thread is interrupted, the gRPC
   * context is cancelled or the client is closed.
   */
  <Q, A> Tries<A> tries(MethodDescriptor<Q, A> method, Q request) {
    long start = System.nanoTime();
    long end = start + retry.overallTimeout().toNanos();
    long backoff = retry.initialBackoff().toNanos();
    boolean mayHaveCommitted = false;
    for (int count = 1; ; ++count) {
      A answer = null;
      RpcError error = null;
      try {
        answer = once(method, request, Math.min(retry.callTimeout().toNanos(), end - System.nanoTime()));
      } catch (RuntimeException thrown) {
        error = RpcError.of(thrown);
        mayHaveCommitted |= error.mayHaveCommitted();
      }
      Tries<A> tries =
          new Tries<>(answer, error, mayHaveCommitted, count, (System.nanoTime() - start) / 1e9);
      if (error == null || !error.isWorthRetrying() || count == retry.maxTries()) {
        return tries;
      }
      long wait = Math.max(
          backoff / 2 + ThreadLocalRandom.current().nextLong(backoff / 2 + 1),
          error.retryDelay().toNanos());
      if (end - System.nanoTime() <= wait || !pause(wait) || end - System.nanoTime() <= 0) {
        return tries;
      }
      backoff = Math.min(2 * backoff, retry.maxBackoff().toNanos());
      channel.resetConnectBackoff(); // Retry alone decides the waits
    }
  }

  private <Q, A> A once(MethodDescriptor<Q, A> method, Q request, long timeoutNanos) {
    CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(timeoutNanos, TimeUnit.NANOSECONDS);
    return ClientCalls.blockingUnaryCall(channel, method, options, request);
  }

  /** Waits. Returns false if no more tries are to be made. */
  private boolean pause(long nanos) {
    Context context = Context.current();
    CountDownLatch cancelled = new CountDownLatch(1);
    Context.CancellationListener listener = ended -> cancelled.countDown();
    context.addListener(listener, Runnable::run);
    try {
      return !cancelled.await(nanos, TimeUnit.NANOSECONDS) && !channel.isShutdown();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      context.removeListener(listener);
    }
  }
}
