/** Which answer settles what: the table of docs/redemption.md, over every answer. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ALL_ANSWERS, answerTable } from './testing/answer-table.js';

const PAGE = readFileSync(new URL('../../../../docs/redemption.md', import.meta.url), 'utf8');

describe('the table of the page', () => {
  const { head, rows, answers } = answerTable();

  it('is the one that the state machine makes (npm run docs:answers)', () => {
    const made = PAGE.split('<!-- Made by `npm run docs:answers`. -->')[1];
    const lines = made?.split('<!-- End of what is made. -->')[0]?.trim().split('\n') ?? [];
    const cells = lines.map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
    expect([cells[0], ...cells.slice(2)]).toEqual([head, ...rows]);
  });

  it('has each answer in exactly one row, and says one thing of it', () => {
    const listed = answers.flat().map((one) => JSON.stringify(one));
    expect(listed.toSorted()).toEqual(ALL_ANSWERS.map((one) => JSON.stringify(one)).toSorted());
    for (const row of rows) expect(row.join()).not.toContain(' or `');
  });
});
