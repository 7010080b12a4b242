import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';

import { RefusalSchema } from '../generated/epsledger/v1/charge_pb.js';
import { CallFailed, Refused } from './errors.js';
import { SeenHeads } from './heads.js';
import { untilDefinite, type Retry, type Tries } from './retry.js';
import type { Transport } from './transport.js';

/** A transport with its retries, and what was seen through it. */
export class Connection {
  readonly heads = new SeenHeads();

  constructor(
    private readonly transport: Transport,
    private readonly retry: Retry,
  ) {}

  close(): void {
    this.transport.close();
  }

  /** Asks, always with the same request, until the outcome is definite or the tries are used up. */
  tries<Input extends DescMessage, Output extends DescMessage>(
    method: DescMethodUnary<Input, Output>,
    request: MessageInitShape<Input>,
  ): Promise<Tries<MessageShape<Output>>> {
    return untilDefinite(this.retry, (timeoutMs) => this.transport.call(method, request, timeoutMs));
  }

  /** The same for reads, and for writes that may be repeated without harm. */
  async call<Input extends DescMessage, Output extends DescMessage>(
    method: DescMethodUnary<Input, Output>,
    request: MessageInitShape<Input>,
  ): Promise<MessageShape<Output>> {
    const tries = await this.tries(method, request);
    if (tries.error === undefined) return tries.answer as MessageShape<Output>;
    const plan = tries.error.detail(RefusalSchema);
    if (plan !== undefined) throw new Refused(plan, '');
    const after = tries.count > 1 ? `, after ${tries.howItWent}` : '';
    throw new CallFailed(tries.error.code, tries.error.message + after);
  }
}
