/** The commands of a page's shell blocks, taken apart as far as the pages' commands need it. */
import { codeBlocks, read } from './markdown.js';

export interface Command {
  readonly words: readonly string[];
  /** What `<<<` hands over. */
  readonly input: string;
}

/** Those that begin with the prefix, its words left out; variables are replaced. */
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
