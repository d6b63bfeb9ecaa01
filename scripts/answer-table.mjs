/** Writes the table of docs/redemption.md that the state machine makes, between its two marks. Needs a build. */
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { answerTable } from '../dist/libs/domain/src/redemption/testing/answer-table.js';

const PAGE = 'docs/redemption.md';
const BEGIN = '<!-- Made by `npm run docs:answers`. -->';
const END = '<!-- End of what is made. -->';

const { head, rows } = answerTable();
const line = (cells) => `| ${cells.join(' | ')} |`;
const table = [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');

const [before, afterBegin] = readFileSync(PAGE, 'utf8').split(BEGIN);
const after = afterBegin?.split(END)[1];
if (after === undefined) throw new Error(`${PAGE} has lost its marks.`);
const text = [before, BEGIN, '\n\n', table, '\n\n', END, after].join('');
const config = await resolveConfig(PAGE);
writeFileSync(PAGE, await format(text, { ...config, parser: 'markdown' }));
