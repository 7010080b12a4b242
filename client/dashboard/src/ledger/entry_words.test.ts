import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describedWords, entryWords, isAbout, placeOfName, whoWords } from './entry_words';

const wordsOf = (description: string) => entryWords({ description });

test('AnEntryIsASentenceAboutABudgetOrSession', () => {
  const cases: [string, string, string, string][] = [
    [
      'budget people below all created: (3, 1e-05)-DP by a portfolio, add-or-remove-one, of "person"',
      'budget',
      'people',
      'created the budget people below all: (3, 1e-5)-DP by a portfolio, add-or-remove-one; one unit is one person',
    ],
    ['budget people is FROZEN: "a leak"', 'budget', 'people', 'froze the budget people'],
    ['budget people is ACTIVE', 'budget', 'people', 'thawed the budget people'],
    [
      'budget team superseded by team-2: (4, 1e-05)-DP by a portfolio: "the board: yes"',
      'budget',
      'team',
      'replaced the budget team by team-2, with the cap (4, 1e-5)-DP by a portfolio',
    ],
    ['session people/first created, ADAPTIVE', 'session', 'people/first', 'opened the session people/first'],
    [
      'people/first attempt 1 charged 100 x gaussian{noiseMultiplier: 1.1} as "a"',
      'charge',
      'people/first',
      'charged people/first for 100 steps: Gaussian, noise multiplier 1.1',
    ],
    ['people/first attempt 2 opened by "epsctl"', 'attempt', 'people/first', 'began attempt 2 of people/first by "epsctl"'],
    ['people/first closed: "done"', 'session', 'people/first', 'closed the session people/first'],
    ['people/first attempt 1 settled the lease "x", 3 used', 'lease', 'people/first', 'settled the lease x of people/first: 3 steps used'],
    ['proposal p1 for budget people approved by "tokens/b": "ok"', 'proposal', 'people', 'approved the proposal p1 for the budget people'],
  ];
  for (const [description, kind, about, text] of cases) {
    const words = wordsOf(description);
    assert.deepEqual([words.kind, words.about, words.text], [kind, about, text]);
  }
});

test('ARefusalSaysWhy', () => {
  const words = wordsOf(
    'people/first attempt 1 was refused 9 x pureDp{epsilon: 2} as "b": BUDGET_EXHAUSTED by people, 3 would fit',
  );
  assert.equal(words.kind, 'refusal');
  assert.equal(words.text, 'was refused 9 steps in people/first: any pure epsilon 2');
  assert.equal(words.reason, 'no room left under a cap by people, 3 would fit');
});

test('ASuccessorRaisesOrLowersTheCap', () => {
  const caps: Record<string, number> = { team: 3, 'team-2': 4, low: 1 };
  const text = (next: string) =>
    entryWords({ description: `budget team superseded by ${next}: x-DP: "why"` }, (id) => ({
      approximateDp: { epsilon: caps[id], delta: 1e-5 },
    })).text;
  assert.equal(text('team-2'), 'raised the cap of team from epsilon 3 to 4 at delta 1e-5: team-2 takes its place');
  assert.equal(text('low'), 'lowered the cap of team from epsilon 3 to 1 at delta 1e-5: low takes its place');
});

test('AReasonIsKeptApart', () => {
  assert.equal(wordsOf('budget people is FROZEN: "a leak"').reason, 'a leak');
  assert.equal(wordsOf('budget t superseded by u: 1-DP: "the board: yes"').reason, 'the board: yes');
});

test('WhatIsNotKnownIsShownAsItIs', () => {
  assert.deepEqual(wordsOf('a thing of tomorrow'), {
    kind: 'other',
    text: 'a thing of tomorrow',
    about: '',
    reason: '',
  });
});

test('EventsAreInTheWordsOfTheOtherPages', () => {
  assert.equal(
    describedWords('poissonSampled{samplingProbability: 0.01, event: gaussian{noiseMultiplier: 1.1}}'),
    'Gaussian, noise multiplier 1.1; Poisson-sampled with probability 0.01',
  );
  assert.equal(describedWords('nonPrivate{reason: "a \\"b\\", c"}'), 'release without privacy: a "b", c');
  assert.equal(describedWords('gaussian{noiseMul...'), 'gaussian{noiseMul...');
});

test('ASessionIsAboutItsBudgetAndNotAboutOneWithALongerName', () => {
  const words = wordsOf('people/first closed');
  assert.ok(isAbout(words, 'people') && isAbout(words, 'people/first'));
  assert.ok(!isAbout(words, 'peop') && !isAbout(words, 'people/fir'));
});

test('SomebodyIsNamedAsTheServerKnowsThem', () => {
  assert.equal(whoWords({ principal: 'tokens/ada', door: 'GRPC' }), 'Token ada');
  assert.equal(whoWords({ principal: 'ada@example.org', door: 'HTTP' }), 'ada@example.org');
  assert.equal(whoWords({ door: 'SERVER' }), 'The server');
  assert.equal(whoWords(undefined), 'Somebody (not recorded)');
});

test('ANameIsFoundAsAWordAndNotInsideOne', () => {
  const text = 'created the budget b below a: 1-DP';
  assert.equal(placeOfName(text, 'b'), text.indexOf('b below'));
  assert.equal(placeOfName('charged b/s for 2 steps', 'b/s'), 8);
  assert.equal(placeOfName('froze the budget people', 'peop'), -1);
});
