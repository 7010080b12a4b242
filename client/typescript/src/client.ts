import { isIP } from 'node:net';

import { create, type DescMessage, type DescMethodUnary, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { credentials } from '@grpc/grpc-js';

import type { NeighboringRelation_Kind } from '../generated/epsledger/v1/mechanism_pb.js';
import { ProvenanceSchema } from '../generated/epsledger/v1/provenance_pb.js';
import { Session_Mode, SessionSchema } from '../generated/epsledger/v1/session_pb.js';
import { SessionService } from '../generated/epsledger/v1/session_service_pb.js';
import { Connection } from './connection.js';
import { CallFailed, invalid } from './errors.js';
import { checkRetry, DEFAULT_RETRY, type Retry } from './retry.js';
import { Session } from './session.js';
import { Transport } from './transport.js';

/** PEM texts. */
export interface Tls {
  /** Who vouches for the server; undefined: the authorities of Node. */
  ca?: Buffer;
  /** This client's own, for mutual TLS: both or neither. */
  certificate?: Buffer;
  key?: Buffer;
}

export interface ClientOptions {
  /** "host:port" or "unix:path"; undefined: 127.0.0.1:50551. */
  address?: string;
  /** undefined: plaintext, to loopback addresses and unix sockets only. */
  tls?: Tls;
  /** Plaintext to other addresses. Anybody who can change the answers on the way can turn a refusal into a permit. */
  allowInsecure?: boolean;
  /** The caller's secret, "epsl_...". It is never sent without TLS to an address that is not local. */
  token?: string;
  retry?: Partial<Retry>;
}

export interface SessionOptions {
  /** "people" or "budgets/people"; it must exist. */
  budget: string;
  /** The last segment of the session's name. */
  session: string;
  /** The session to create first; one with the same content stays as it is. undefined: it must exist. */
  create?: MessageInitShape<typeof SessionSchema>;
  /** What the attempt declares about itself. */
  provenance?: MessageInitShape<typeof ProvenanceSchema>;
  description?: string;
}

/** An adaptive session without a cap of its own, for SessionOptions.create. */
export function newSession(neighboringRelation: NeighboringRelation_Kind): MessageInitShape<typeof SessionSchema> {
  return { mode: Session_Mode.ADAPTIVE, neighboringRelation, noOwnCap: true };
}

/** A connection to a server. */
export class Client {
  private readonly connection: Connection;

  /** Checks the options; the first call connects. Throws CallFailed, which names the option that is wrong. */
  constructor(options: ClientOptions = {}) {
    const retry = { ...DEFAULT_RETRY, ...options.retry };
    checkRetry(retry);
    const { address = '127.0.0.1:50551', token = '', tls } = options;
    checkAddress(address, token, tls !== undefined, options.allowInsecure ?? false);
    if ((tls?.certificate === undefined) !== (tls?.key === undefined)) {
      throw invalid('tls', 'one of certificate and key', 'both or neither');
    }
    const channel = tls === undefined
      ? credentials.createInsecure()
      : credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.certificate ?? null);
    this.connection = new Connection(new Transport(address, channel, token, tls === undefined), retry);
  }

  /** Ends the connection. Its sessions charge nothing more. */
  close(): void {
    this.connection.close();
  }

  /** For the parts of the API that this package has no words for: reads, and writes that may be repeated. */
  call<Input extends DescMessage, Output extends DescMessage>(
    method: DescMethodUnary<Input, Output>,
    request: MessageInitShape<Input>,
  ): Promise<MessageShape<Output>> {
    return this.connection.call(method, request);
  }

  /** Opens the next attempt of a session, which fences all earlier ones. */
  async open(options: SessionOptions): Promise<Session> {
    const parent = `budgets/${options.budget.replace(/^budgets\//, '')}`;
    const name = `${parent}/sessions/${options.session}`;
    if (options.create !== undefined) {
      await this.connection.call(SessionService.method.createSession, {
        parent, sessionId: options.session, session: options.create,
      });
    }
    const lastSeenHead = this.connection.heads.of(name);
    const attempt = await this.connection.call(SessionService.method.openAttempt, {
      session: name, clientDescription: options.description ?? '', lastSeenHead,
      ...(options.provenance === undefined ? {} : { provenance: options.provenance }),
    });
    if (attempt.number < 1n || attempt.name !== `${name}/attempts/${attempt.number}`) {
      throw new CallFailed('INTERNAL', `the server opened the attempt "${attempt.name}" number ${attempt.number} of ` +
        `${name}: these do not fit together`);
    }
    const wrong = this.connection.heads.accept(name, attempt, lastSeenHead);
    if (wrong !== undefined) throw new CallFailed('DATA_LOSS', wrong);
    return new Session(this.connection, name, attempt.name);
  }
}

/** Refuses plaintext that others could read or change. Its errors never repeat the token. */
function checkAddress(address: string, token: string, hasTls: boolean, allowInsecure: boolean): void {
  if (!/^[!-~]*$/.test(token) || token.includes('\n')) {
    throw invalid('token', 'something else', 'the secret of a token, without white space');
  }
  if (hasTls || isLocal(address)) return;
  if (token !== '') {
    throw new CallFailed('INVALID_ARGUMENT', `token: would be sent in plaintext to ${address}, where others can read it ` +
      'on the way: use TLS');
  }
  if (!allowInsecure) throw invalid('address', address, 'a loopback address or a unix socket where there is no TLS');
}

/** True for a unix socket, a literal loopback address or "localhost" with a port, and for nothing else. */
function isLocal(address: string): boolean {
  if (/^unix(-abstract)?:/.test(address)) return true;
  const found = /^(?:\[([^\]]*)\]|([^:]*)):\d+$/.exec(address);
  if (found === null) return false;
  const [, inBrackets, plain] = found;
  if (plain !== undefined) return plain === 'localhost' || (isIP(plain) === 4 && plain.startsWith('127.'));
  return inBrackets === '::1';
}
