import { create, fromBinary, toBinary, type DescMessage, type DescMethodUnary, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { Client, Metadata, type ChannelCredentials, type ServiceError, type StatusObject } from '@grpc/grpc-js';

import { RetryInfoSchema } from '../generated/google/rpc/error_details_pb.js';
import { StatusSchema } from '../generated/google/rpc/status_pb.js';
import { codeName } from './errors.js';

// Codes after which the server may have committed, and a repetition with the same key can find out.
const WORTH_RETRYING = new Set(['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'CANCELLED', 'UNKNOWN']);
// Codes that the server returns before it writes.
const NOT_COMMITTED = new Set([
  'INVALID_ARGUMENT', 'NOT_FOUND', 'ALREADY_EXISTS', 'PERMISSION_DENIED', 'UNAUTHENTICATED', 'FAILED_PRECONDITION',
  'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED',
]);
const MOST_RETRY_DELAY_MS = 3_600_000;

/** The error of one try. */
export class RpcError extends Error {
  constructor(
    readonly code: string,
    message: string,
    private readonly details: Uint8Array | undefined,
  ) {
    super(message);
  }

  get isWorthRetrying(): boolean {
    return WORTH_RETRYING.has(this.code);
  }

  get mayHaveCommitted(): boolean {
    return !NOT_COMMITTED.has(this.code);
  }

  /** What the server asks to wait (google.rpc.RetryInfo), in [0, 1 h]; more is not believed. */
  get retryDelayMs(): number {
    const delay = this.detail(RetryInfoSchema)?.retryDelay;
    const ms = delay === undefined ? 0 : Number(delay.seconds) * 1000 + delay.nanos / 1e6;
    return ms > 0 && ms <= MOST_RETRY_DELAY_MS ? ms : 0;
  }

  /** The first detail of that type; undefined if there is none. */
  detail<Desc extends DescMessage>(schema: Desc): MessageShape<Desc> | undefined {
    if (this.details === undefined) return undefined;
    try {
      const found = fromBinary(StatusSchema, this.details).details.find((one) => one.typeUrl.endsWith(`/${schema.typeName}`));
      return found === undefined ? undefined : fromBinary(schema, found.value);
    } catch {
      return undefined; // what cannot be read is no detail
    }
  }
}

/** One channel. */
export class Transport {
  private readonly client: Client;
  private readonly metadata = new Metadata();

  constructor(target: string, credentials: ChannelCredentials, token: string, plaintext: boolean) {
    if (token !== '') this.metadata.set('authorization', `Bearer ${token}`);
    this.client = new Client(target, credentials, {
      'grpc.enable_retries': 0, // Retry alone decides the number of tries
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 2_000,
      'grpc.keepalive_time_ms': 60_000,
      'grpc.keepalive_timeout_ms': 20_000,
      // A proxy from the environment would carry a local connection off the machine in plaintext.
      ...(plaintext ? { 'grpc.enable_http_proxy': 0 } : {}),
    });
  }

  close(): void {
    this.client.close();
  }

  /**
   * One try. Rejects with RpcError.
   *
   * It is made as a stream that has one answer: grpc-js's unary call ends with UNIMPLEMENTED if the answer is missing or
   * there are two, which the server's own code means otherwise.
   */
  call<Input extends DescMessage, Output extends DescMessage>(
    method: DescMethodUnary<Input, Output>,
    request: MessageInitShape<Input>,
    timeoutMs: number,
  ): Promise<MessageShape<Output>> {
    const path = `/${method.parent.typeName}/${method.name}`;
    const bytes = toBinary(method.input, create(method.input, request));
    return new Promise((resolve, reject) => {
      const messages: Buffer[] = [];
      const stream = this.client.makeServerStreamRequest<Uint8Array, Buffer>(
        path, (value) => Buffer.from(value), (value) => value, bytes, this.metadata, { deadline: Date.now() + timeoutMs });
      stream.on('data', (message: Buffer) => messages.push(message));
      stream.on('error', (error: ServiceError) => reject(failure(error)));
      stream.on('end', () => undefined);
      stream.on('status', (status: StatusObject) => {
        if (status.code !== 0) return; // 'error' says it
        const [only] = messages;
        if (only === undefined || messages.length > 1) {
          reject(new RpcError('INTERNAL', `the answer is OK and has ${messages.length} messages, want one`, undefined));
          return;
        }
        try {
          resolve(fromBinary(method.output, only));
        } catch (error) {
          reject(new RpcError('INTERNAL', `the answer is no ${method.output.typeName}: ${String(error)}`, undefined));
        }
      });
    });
  }
}

function failure(error: ServiceError): RpcError {
  const [details] = error.metadata?.get('grpc-status-details-bin') ?? [];
  return new RpcError(codeName(error.code), error.details, typeof details === 'string' ? undefined : details);
}
