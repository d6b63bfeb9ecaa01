import { expect, it } from '@jest/globals';
import { momentsOf } from './moments.js';

type Transitions = Parameters<typeof momentsOf>[0];
type Calls = Parameters<typeof momentsOf>[1];

const AT = '2026-11-28T12:00:00.100Z';
const LATER = '2026-11-28T12:00:00.101Z';

const transition = (version: number, at: string, requestId: string | null = null) =>
  ({ version, at, requestId }) as Transitions[number];
const call = (requestId: string, begunAt: string, endedAt: string | null = begunAt) =>
  ({ requestId, begunAt, endedAt }) as Calls[number];

const orderOf = (transitions: Transitions, calls: Calls) =>
  momentsOf(transitions, calls).map((one) => one.transition?.version ?? one.call?.requestId);

it('a call stands between the transitions that begin and end it, though all are of one millisecond', () => {
  const transitions = [transition(1, AT), transition(2, AT, 'a'), transition(3, AT, 'a')];
  expect(orderOf(transitions, [call('a', AT)])).toEqual([1, 2, 'a', 3]);
});

it('a call that was written before its transition, by a millisecond, comes after it', () => {
  const transitions = [transition(1, AT), transition(2, LATER, 'a')];
  expect(orderOf(transitions, [call('a', AT, null)])).toEqual([1, 2, 'a']);
});

it('a call that only its end names comes before that end', () => {
  const transitions = [transition(1, AT), transition(2, AT, 'a'), transition(3, LATER, 'b')];
  const calls = [call('b', AT), call('a', AT, AT)];
  expect(orderOf(transitions, calls)).toEqual([1, 'a', 2, 'b', 3]);
});

it('a call that no transition names goes by its time', () => {
  const transitions = [transition(1, AT), transition(2, '2026-11-28T12:00:01.000Z')];
  expect(orderOf(transitions, [call('c', LATER), call('d', '2026-11-28T12:00:02.000Z')])).toEqual([
    ...[1, 'c', 2, 'd'],
  ]);
});
