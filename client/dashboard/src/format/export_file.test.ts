import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportHeader, exportRow, exportTrailer } from './export_file';

test('LinesHaveTheOneSpellingThatTheServerReads', () => {
  assert.equal(
    exportHeader('budgets/people'),
    '{"epsledgerExport":1,"rootBudget":"budgets/people"}\n',
  );
  assert.equal(
    exportRow({ sequence: '3', hash: 'AP8=', content: 'AQA=', description: 'not part of it' }),
    '{"sequence":3,"hash":"00ff","content":"0100"}\n',
  );
  assert.equal(
    exportTrailer({ sequence: '3', hash: 'AP8=', merkleRoot: '/w==' }),
    '{"entryCount":3,"hash":"00ff","merkleRoot":"ff"}\n',
  );
});
