package dev.epsledger;

import com.google.protobuf.Message;
import dev.epsledger.v1.AcquireLeaseRequest;
import dev.epsledger.v1.Attempt;
import dev.epsledger.v1.Charge;
import dev.epsledger.v1.ChargeRequest;
import dev.epsledger.v1.CreateSessionRequest;
import dev.epsledger.v1.OpenAttemptRequest;
import dev.epsledger.v1.SettleLeaseRequest;
import io.grpc.MethodDescriptor;
import io.grpc.protobuf.ProtoUtils;

/** The methods that this client calls: so few that no generator of stubs is needed. */
final class Methods {
  static final MethodDescriptor<ChargeRequest, Charge> CHARGE =
      of("ChargeService", "Charge", ChargeRequest.getDefaultInstance(), Charge.getDefaultInstance());

  static final MethodDescriptor<AcquireLeaseRequest, dev.epsledger.v1.Lease> ACQUIRE_LEASE =
      of("ChargeService", "AcquireLease", AcquireLeaseRequest.getDefaultInstance(),
          dev.epsledger.v1.Lease.getDefaultInstance());

  static final MethodDescriptor<SettleLeaseRequest, dev.epsledger.v1.Lease> SETTLE_LEASE =
      of("ChargeService", "SettleLease", SettleLeaseRequest.getDefaultInstance(),
          dev.epsledger.v1.Lease.getDefaultInstance());

  static final MethodDescriptor<CreateSessionRequest, dev.epsledger.v1.Session> CREATE_SESSION =
      of("SessionService", "CreateSession", CreateSessionRequest.getDefaultInstance(),
          dev.epsledger.v1.Session.getDefaultInstance());

  static final MethodDescriptor<OpenAttemptRequest, Attempt> OPEN_ATTEMPT =
      of("SessionService", "OpenAttempt", OpenAttemptRequest.getDefaultInstance(),
          Attempt.getDefaultInstance());

  private Methods() {}

  private static <Q extends Message, A extends Message> MethodDescriptor<Q, A> of(
      String service, String method, Q request, A answer) {
    return MethodDescriptor.newBuilder(ProtoUtils.marshaller(request), ProtoUtils.marshaller(answer))
        .setType(MethodDescriptor.MethodType.UNARY)
        .setFullMethodName(MethodDescriptor.generateFullMethodName("epsledger.v1." + service, method))
        .build();
  }
}
