// Real servers on data directories of their own, and epsctl to speak to them.

import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, openSync, closeSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const build = process.env.EPSLEDGER_BUILD_DIR;
const daemon = join(build, 'server/epsledgerd');
const epsctlPath = join(build, 'client/cli/epsctl');
const START_PATIENCE_MS = 120_000;

const running = new Set();

/** Ports that nobody holds now, all different. A server that is started again must be where it was. */
async function freePorts(count) {
  const probes = Array.from({ length: count }, () => createServer());
  for (const probe of probes) {
    await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve));
  }
  const ports = probes.map((probe) => probe.address().port);
  for (const probe of probes) await new Promise((resolve) => probe.close(resolve));
  return ports;
}

export class LedgerServer {
  static async start(options = []) {
    const server = new LedgerServer();
    server.directory = mkdtempSync(join(tmpdir(), 'epsledger-browser-'));
    server.options = options;
    [server.grpc, server.http] = (await freePorts(2)).map((port) => `127.0.0.1:${port}`);
    server.url = `http://${server.http}`;
    running.add(server);
    return server;
  }

  /** Before or after `run`; a server that holds the directory would refuse. */
  async createToken(role, tenant = []) {
    const answer = await command(daemon, [
      'token', 'create', '--data-dir', join(this.directory, 'data'), '--role', role, ...tenant,
    ]);
    if (answer.code !== 0) throw new Error(`no token: ${answer.stderr}`);
    return /epsl_[A-Za-z0-9_-]+/.exec(answer.stdout)[0];
  }

  async run() {
    // Into a file: a server that outlives a test must not hold its pipe.
    const log = openSync(join(this.directory, 'log'), 'a');
    this.process = spawn(
      daemon,
      [
        '--data-dir', join(this.directory, 'data'),
        '--listen', this.grpc,
        '--http-listen', this.http,
        ...this.options,
      ],
      { stdio: ['ignore', log, log] },
    );
    closeSync(log);
    this.ended = new Promise((resolve) => this.process.once('exit', resolve));
    const until = Date.now() + START_PATIENCE_MS;
    while (Date.now() < until) {
      try {
        if ((await fetch(`${this.url}/readyz`)).ok) return this;
      } catch {
        // Not yet.
      }
      if (this.process.exitCode !== null) break;
      await sleep(50);
    }
    throw new Error(`the server did not start: ${readFileSync(join(this.directory, 'log'), 'utf8')}`);
  }

  /** At once, as a power failure would. */
  async kill() {
    this.process.kill('SIGKILL');
    await this.ended;
  }

  async stop() {
    if (this.process !== undefined && this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill('SIGTERM');
      const timer = setTimeout(() => this.process.kill('SIGKILL'), 5_000);
      await this.ended;
      clearTimeout(timer);
    }
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Runs epsctl; refusals (3) are answers here, everything else is an error. */
  async epsctl(...args) {
    const answer = await command(epsctlPath, ['-o', 'json', ...args], {
      ...process.env,
      EPSLEDGER_SERVER: this.grpc,
      ...(this.token === undefined ? {} : { EPSLEDGER_TOKEN: this.token }),
    });
    if (answer.code !== 0 && answer.code !== 3) {
      throw new Error(`epsctl ${args.join(' ')}: ${answer.stderr}`);
    }
    // A plan that was refused made nothing that could be printed.
    const value = answer.stdout === '' ? undefined : JSON.parse(answer.stdout);
    return { refused: answer.code === 3, value };
  }

  async get(path) {
    return this.ask(path, {});
  }

  /** One unary RPC: rpc('ChargeService/BatchCharge', { ... }). */
  async rpc(method, request) {
    return this.ask(`/epsledger.v1.${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
  }

  async ask(path, init) {
    const response = await fetch(`${this.url}${path}`, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}

function command(file, args, env = process.env) {
  return new Promise((resolve) => {
    execFile(file, args, { env, timeout: 120_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code ?? -1), stdout, stderr });
    });
  });
}

let shared;

/** The server that most tests look at: started once, with something on every page. */
export function sharedServer() {
  shared ??= (async () => {
    const server = await (await LedgerServer.start()).run();
    await fill(server);
    return server;
  })();
  return shared;
}

/** Charges of DP-SGD: `count` steps. */
export function steps(count) {
  return ['--gaussian', '1.1', '--sampling-probability', '0.01', '--count', String(count)];
}

const RELATION = ['--relation', 'add-or-remove-one'];

/** Budgets of several kinds, sessions of both modes, refusals, leases, what is not proven, an audit. */
export async function fill(server) {
  const run = (...args) => server.epsctl(...args);
  const unit = [...RELATION, '--privacy-unit', 'person'];
  await run('budget', 'create', 'people', '--epsilon', '3', '--delta', '1e-5', ...unit, '--alert-at', '0.8');
  await run('budget', 'create', 'children', '--parent', 'people', '--epsilon', '2', '--delta', '1e-5', ...unit);
  await run('budget', 'create', 'published', '--no-guarantee', ...unit);
  await run('budget', 'create', 'small', '--pure-epsilon', '0.5', ...unit);
  await run('budget', 'create', 'empty', '--rho', '0.1', ...unit);
  await run('session', 'create', 'people/first', ...RELATION, '--no-own-cap');
  await run(
    'charge', 'create', 'people/first', '--open-attempt', '--charge-id', 'block-1', ...steps(600),
    '--sampler', 'poisson', '--clip-norm', '1', '--library', 'tests', '--library-version', '1',
  );
  await run('charge', 'create', 'people/first', '--attempt', '1', '--charge-id', 'block-2', ...steps(300));
  await run('charge', 'create', 'people/first', '--open-attempt', '--charge-id', 'block-3', ...steps(200));
  await run('lease', 'acquire', 'people/first', '--attempt', '2', '--lease-id', 'lease-1', ...steps(150));
  await run('charge', 'create', 'people/first', '--attempt', '2', '--charge-id', 'greedy', ...steps(100_000));
  await run(
    'session', 'create', 'children/plan', ...RELATION, '--gaussian', '60', '--count', '20', '--plan-delta', '1e-6',
  );
  // A plan that does not fit.
  await run(
    'session', 'create', 'children/too-much', ...RELATION, '--gaussian', '1', '--count', '1000', '--plan-delta', '1e-6',
  );
  await run(
    'session', 'create', 'published/as-published', ...RELATION, '--no-own-cap', '--claim', 'counterexample-known',
    '--claimed-epsilon', '1', '--claimed-delta', '1e-5', '--claim-source', 'Theorem 3.3',
  );
  await run(
    'charge', 'create', 'published/as-published', '--open-attempt', '--charge-id', 'mark',
    '--event', '{"nonPrivate": {"reason": "claimed guarantee not proven"}}',
  );
  await run('charge', 'create', 'published/as-published', '--attempt', '1', '--charge-id', 'a', '--gaussian', '40');
  await run(
    'audit', '--method', 'two-arm-threshold', '--two-arm-counts', '930/1000,14/1000', '--delta', '1e-5',
    '--record', 'published/as-published', '--source', 'gradient canary',
  );
  await run(
    'session', 'create', 'small/query', ...RELATION, '--no-own-cap', '--claim', 'proven', '--claimed-epsilon', '0.25',
    '--claimed-delta', '0',
  );
  await run('charge', 'create', 'small/query', '--open-attempt', '--charge-id', 'a', '--laplace', '4');
}

/** False if the server has no page at "/". */
export async function servesDashboard() {
  const answer = await fetch((await sharedServer()).url);
  return answer.ok && (await answer.text()).includes('<script');
}

export async function stopServers() {
  for (const server of running) await server.stop();
}
