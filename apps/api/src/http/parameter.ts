import { HttpProblem } from '#libs/service';

/**
 * What is wrong with a parameter. One that was sent more than once is a list.
 * @param rule what it must be, to follow `must be`
 */
export function badParameter(name: string, value: unknown, rule: string): HttpProblem {
  return new HttpProblem(400, `${name} must be ${faultOf(value)}${rule}.`);
}

function faultOf(value: unknown): string {
  if (Array.isArray(value) && value.length > 1) return 'given at most once: ';
  return value === undefined ? 'given: ' : '';
}
