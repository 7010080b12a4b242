import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorOf } from './client';

test('AnAccountantThatDoesNotKnowAnEventIsNoOldServer', () => {
  const error = errorOf(501, {
    code: 'unimplemented',
    message: 'the GAUSSIAN accountant does not know poissonSampled yet',
  });
  assert.equal(error.kind, 'unanswered');
  assert.equal(error.message, 'The GAUSSIAN accountant does not know poissonSampled yet.');
  assert.match(error.remedy, /another accountant/);
});

test('EveryStatusHasAKindAndWords', () => {
  const rows: [status: number, body: unknown, kind: string][] = [
    [400, { code: 'invalid_argument', message: 'delta: got 2, want in (0, 1)' }, 'invalid'],
    [400, { message: 'query: typeOneError: is not known here; known: delta' }, 'not-offered'],
    [401, { code: 'unauthenticated' }, 'unauthenticated'],
    [403, { code: 'permission_denied' }, 'denied'],
    [404, { code: 'not_found', message: 'there is no budget "x"' }, 'not-found'],
    [404, { code: 'not_found', message: 'there is nothing here' }, 'not-offered'],
    [404, { code: 'unimplemented', message: 'there is no unary method /x/Y' }, 'not-offered'],
    [404, undefined, 'not-offered'],
    [409, { code: 'aborted' }, 'invalid'],
    [429, { code: 'resource_exhausted' }, 'busy'],
    [500, undefined, 'broken'],
    [503, { code: 'unavailable' }, 'busy'],
    [504, { code: 'deadline_exceeded' }, 'busy'],
  ];
  for (const [status, body, kind] of rows) {
    const error = errorOf(status, body);
    assert.equal(error.kind, kind, `${status} ${JSON.stringify(body)}`);
    assert.match(error.message, /^[A-Z].*\.$/);
    assert.match(error.remedy, /^[A-Z].*\.$/);
  }
});
