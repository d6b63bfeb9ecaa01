/** Parses the commands in a page's shell blocks, as far as the pages' commands need it. */
import { codeBlocks, read } from './markdown.js';

export interface Command {
  readonly words: readonly string[];
  /** The here-string after `<<<`. */
  readonly input: string;
}

/** The commands that begin with the prefix, without the prefix and with variables replaced. */
export function commands(
  page: string,
  prefix: string,
  variables: Readonly<Record<string, string>>,
): Command[] {
  return codeBlocks(read(page))
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) => code.replaceAll(/\\\n\s*/g, '').split('\n'))
    .map((line) => line.trim())
    .filter((line) => line.startsWith(`${prefix} `))
    .map((line) => commandOf(line.slice(prefix.length), variables));
}

function commandOf(text: string, variables: Readonly<Record<string, string>>): Command {
  const words = [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => single ?? fill(double ?? bare ?? '', variables),
  );
  const at = words.indexOf('<<<');
  return at === -1
    ? { words, input: '' }
    : { words: words.slice(0, at), input: `${words[at + 1] ?? ''}\n` };
}

function fill(word: string, variables: Readonly<Record<string, string>>): string {
  return word.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`The page uses $${name}, which nothing sets.`);
    return value;
  });
}
