import { describe, expect, it } from '@jest/globals';
import { AllEndpointsFailedError, MalformedAnswerError } from '../rpc/rpc.errors.js';
import { accepted, agreed, believed, type Others, Quorum, type Statement } from './quorum.js';

const ENDPOINTS = ['one#1', 'one#2', 'two#3', 'three#4'];
const equal = (one: number, other: number): boolean => one === other;

/** Asks endpoints that say these values; `out`: an outage, undefined: it cannot say. */
async function ask(
  values: readonly (number | 'out' | undefined)[],
  how: 'ask' | 'confirm' = 'ask',
): Promise<{ said: readonly Statement<number>[] | undefined; asked: string[] }> {
  const asked: string[] = [];
  const question = ({ avoid = [] }: { avoid?: readonly string[] | undefined }) => {
    const place = ENDPOINTS.findIndex((name, at) => !avoid.includes(name) && at < values.length);
    const endpoint = ENDPOINTS[place] ?? '';
    asked.push(endpoint);
    const value = values[place];
    if (value === 'out') throw new AllEndpointsFailedError([], 0);
    return Promise.resolve(value === undefined ? undefined : { endpoint, value });
  };
  const quorum = new Quorum(ENDPOINTS.slice(0, values.length));
  const run = async (options: { avoid?: readonly string[] | undefined }) => question(options);
  const first = { endpoint: 'one#1', value: values[0] as number };
  const said =
    how === 'ask' ? await quorum.ask(run, equal) : await quorum.confirm(run, equal, first);
  return { said, asked };
}

const out = new AllEndpointsFailedError([], 0);
const malformed = new AllEndpointsFailedError(
  [new MalformedAnswerError('no number', { endpoint: 'two#2' })],
  0,
);

/** Asks two providers, of which the second one fails. */
function failsAfter(error: Error, others: Others) {
  return new Quorum(['one#1', 'two#2']).two(({ avoid }) => {
    return avoid ? Promise.reject(error) : Promise.resolve({ endpoint: 'one#1', value: 5 });
  }, others);
}

describe('Quorum', () => {
  it.each<[string, (number | 'out' | undefined)[], number[], string[]]>([
    ['the only provider', [5, 6], [5], ['one#1']],
    ['two that agree, without the third', [5, 0, 5, 6], [5, 5], ['one#1', 'two#3']],
    ['the third one where two differ', [5, 0, 6, 6], [5, 6, 6], ['one#1', 'two#3', 'three#4']],
    ['all that differ', [5, 0, 6, 7], [5, 6, 7], ['one#1', 'two#3', 'three#4']],
    ['one while the others are out', [5, 0, 'out'], [5], ['one#1', 'two#3']],
    ['one while the others cannot say', [5, 0, undefined], [5], ['one#1', 'two#3']],
    ['none where the first cannot say', [undefined, undefined, 5], [], ['one#1']],
  ])('counts %s', async (_case, values, said, asked) => {
    const answer = await ask(values);
    expect(answer.said?.map(({ value }) => value)).toEqual(said);
    expect(answer.asked).toEqual(asked);
  });

  it('confirms by the same provider where no other one answers', async () => {
    expect((await ask([5, 6], 'confirm')).said?.map(({ value }) => value)).toEqual([5, 5]);
    expect((await ask([5, 0, 6], 'confirm')).said?.map(({ value }) => value)).toEqual([5, 6]);
    expect((await ask([undefined], 'confirm')).said).toBeUndefined();
  });

  it('passes over a provider that has no value, and waits for a second one if two are needed', async () => {
    const values = [undefined, 5, 5];
    const question = ({ avoid = [] }: { avoid?: readonly string[] | undefined }) => {
      const names = ['one#1', 'two#2', 'three#3'];
      const place = names.findIndex((name) => !avoid.includes(name));
      const endpoint = names[place] ?? '';
      return Promise.resolve({ endpoint, value: values[place] });
    };
    const said = await new Quorum(['one#1', 'two#2', 'three#3']).ask(question, equal);
    expect(said.map(({ endpoint }) => endpoint)).toEqual(['two#2', 'three#3']);
    await expect(failsAfter(out, { mustBeTwo: true })).rejects.toBe(out);
    expect(await failsAfter(out, {})).toEqual([{ endpoint: 'one#1', value: 5 }, undefined]);
    await expect(failsAfter(malformed, {})).rejects.toBe(malformed);
    expect((await failsAfter(malformed, { mayFail: true }))[1]).toBeUndefined();
  });

  it('accepts what two say, or the only one', () => {
    const by = (...values: number[]) =>
      accepted(
        values.map((value, place) => ({ endpoint: `${place}#${place}`, value })),
        equal,
      )?.value;
    expect([by(5), by(5, 6), by(5, 6, 6), by()]).toEqual([5, undefined, 6, undefined]);
  });

  it('does not count two endpoints of one provider as two', () => {
    const said = ['one#1', 'one#2', 'two#3'].map((endpoint, at) => ({ endpoint, value: at >> 1 }));
    expect(agreed(said, equal)).toBeUndefined();
    expect(agreed([...said, { endpoint: 'three#4', value: 1 }], equal)?.endpoint).toBe('two#3');
  });
});

it.each<[string, bigint, bigint[], bigint]>([
  ['what one says', 1n, [2n], 2n],
  ['what two say', 1n, [2n, 2n], 2n],
  ['what two of three say, also against the index', 1n, [2n, 1n, 2n], 2n],
  ['the index where one of two confirms it', 1n, [2n, 1n], 1n],
  ['the index where two confirm it', 1n, [2n, 1n, 1n], 1n],
  ['the first of two that both deny the index', 1n, [2n, 3n], 2n],
])('believed is %s', (_case, known, said, expected) => {
  expect(believed(known, said)).toBe(expected);
});
