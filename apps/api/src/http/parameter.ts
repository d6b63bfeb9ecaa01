import { HttpProblem } from '#libs/service';

/**
 * The error for a wrong parameter. A parameter that was sent more than once arrives as a list.
 * @param rule what the value must be, as the words after `must be`
 */
export function badParameter(name: string, value: unknown, rule: string): HttpProblem {
  return new HttpProblem(400, `${name} must be ${faultOf(value)}${rule}.`);
}

function faultOf(value: unknown): string {
  if (Array.isArray(value) && value.length > 1) return 'given at most once: ';
  return value === undefined ? 'given: ' : '';
}
