/**
 * The notation in which an operator writes a view of a stake contract, as one line or as JSON. stake-view.ts interprets
 * the names. One line:
 *
 *   [function] name(type [name] [= constant], …) [view] returns (type [name], …)
 *     [-> output] [at 0xcontract] [+ another view]
 */
import { PermanentError } from '#libs/domain';
import { isRecord } from '../shape/hex.js';

export interface ViewNotation {
  /** The setting, or the part of the file, that the view comes from, for errors. */
  readonly where: string;
  readonly function: string;
  /** Constants by the name of the parameter, or by its position from 0. */
  readonly arguments: Readonly<Record<string, string>>;
  /** Name or position of the output; a dot leads into a tuple. */
  readonly output: string | undefined;
  /** The contract, where it is none of STAKE_CONTRACT. */
  readonly contract: string | undefined;
}

export class StakeViewError extends PermanentError {
  constructor(where: string, reason: string) {
    super('STAKE_VIEW_INVALID', `${where}: ${reason}`);
  }
}

const KEYS = ['function', 'arguments', 'output', 'contract'];
const TAIL = /(?:\s*->\s*(?<output>[\w.$]+))?(?:\s+at\s+(?<contract>[^\s;]+))?\s*;?\s*$/;

/**
 * @param value one line, an object, or a list of both, whose figures add up; `none` and `[]` mean no view
 * @throws StakeViewError
 */
export function parseNotation(value: unknown, where: string): readonly ViewNotation[] {
  if (Array.isArray(value)) {
    return value.flatMap((one, index) => parseNotation(one, `${where}[${index}]`));
  }
  if (typeof value === 'string') {
    if (value.trim() === 'none') return [];
    return value.split('+').map((line) => parseLine(line.trim(), where));
  }
  if (isRecord(value)) return [parseObject(value, where)];
  throw new StakeViewError(where, 'must be a function, an object, a list of them, or "none"');
}

function parseLine(line: string, where: string): ViewNotation {
  const { output, contract } = TAIL.exec(line)?.groups ?? {};
  const { signature, values } = takeConstants(line.replace(TAIL, ''), where);
  return { where, function: signature, arguments: values, output, contract };
}

/** Takes `= constant` out of the parameters, which leaves a signature in the usual form. */
function takeConstants(
  text: string,
  where: string,
): { signature: string; values: Record<string, string> } {
  const open = text.indexOf('(');
  const close = closingOf(text, open);
  if (close < 0) throw new StakeViewError(where, `"${text}" is not a function: no "(…)" in it`);
  const values: Record<string, string> = {};
  const parameters = topLevelParts(text.slice(open + 1, close)).map((part, position) => {
    const [, parameter, value] = /^([^=]*)=\s*(.*)$/s.exec(part) ?? [];
    if (value !== undefined) values[position] = value.trim();
    return (parameter ?? part).trim();
  });
  const signature = `${text.slice(0, open)}(${parameters.join(', ')})${text.slice(close + 1)}`;
  return { signature: withKeyword(signature), values };
}

function withKeyword(signature: string): string {
  const text = signature.trim();
  return /^(?:function|event|error|struct|constructor)\b/.test(text) ? text : `function ${text}`;
}

function closingOf(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at >= 0 && at < text.length; at++) {
    if (text[at] === '(') depth++;
    if (text[at] === ')' && --depth === 0) return at;
  }
  return -1;
}

/** Splits at the commas outside of parentheses. */
function topLevelParts(text: string): string[] {
  if (text.trim() === '') return [];
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === '(') depth++;
    if (letter === ')') depth--;
    if (letter !== ',' || depth > 0) continue;
    parts.push(text.slice(from, at));
    from = at + 1;
  }
  parts.push(text.slice(from));
  return parts;
}

function parseObject(value: Record<string, unknown>, where: string): ViewNotation {
  const unknown = Object.keys(value).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    throw new StakeViewError(where, `has an unknown key "${unknown}"; known: ${KEYS.join(', ')}`);
  }
  const text = (key: string): string | undefined => {
    const found = value[key];
    if (found === undefined) return undefined;
    if (key === 'output' && typeof found === 'number') return String(found);
    if (typeof found === 'string' && found.trim() !== '') return found.trim();
    throw new StakeViewError(where, `"${key}" must be a text`);
  };
  const signature = text('function');
  if (signature === undefined) throw new StakeViewError(where, 'needs "function", a signature');
  return {
    where,
    output: text('output'),
    contract: text('contract'),
    function: withKeyword(signature),
    arguments: constantsOf(value['arguments'], where),
  };
}

function constantsOf(value: unknown, where: string): Record<string, string> {
  if (value === undefined) return {};
  if (!isRecord(value)) {
    throw new StakeViewError(where, '"arguments" must be an object of parameter names and values');
  }
  const entries = Object.entries(value).map(([name, constant]): [string, string] => {
    if (typeof constant === 'string') return [name, constant.trim()];
    if (typeof constant === 'boolean' || Number.isSafeInteger(constant))
      return [name, String(constant)];
    throw new StakeViewError(
      where,
      `"arguments.${name}" must be a text, true or false, or a whole number`,
    );
  });
  return Object.fromEntries(entries);
}
