import { type Verdict } from './verdict.js';

/** The result of a simulation as text for a person. */
export function toldVerdict({ seed, faults, stories, ...tallies }: Verdict): string {
  const lines = Object.entries(tallies).map(([name, tally]) => {
    const words = Object.entries(tally).sort(([, a], [, b]) => b - a);
    return `${name}: ${words.map(([word, count]) => `${word} ${count}`).join(', ')}`;
  });
  return [
    `seed ${seed}: ${faults.length} faults`,
    ...lines,
    ...faults.slice(0, 30),
    ...stories,
  ].join('\n');
}
