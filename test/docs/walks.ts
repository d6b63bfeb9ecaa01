/** A walk of docs/ARCHITECTURE.md: the files that data passes on one way through the system, in this order. */
export interface Walk {
  readonly title: string;
  /** Paths from the root of the repository. */
  readonly files: readonly string[];
}

/**
 * The walks of the page: each heading below "Three walks" with its numbered list. scripts/house-figures.mjs uses this
 * function too.
 */
export function walksOf(page: string): Walk[] {
  const chapter = /^## Three walks\n([^]*?)(?=^## |$(?![^]))/m.exec(page)?.[1] ?? '';
  return chapter
    .split(/^### /m)
    .slice(1)
    .map((section) => ({
      title: section.slice(0, section.indexOf('\n')),
      files: [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map((match) => match[1] ?? ''),
    }));
}

/**
 * Applies the rule of a walk, which follows a call stack: each file is joined with the file before it or, if that one
 * has returned, with the nearest file before it that has not returned. A walk does not go back to a returned file.
 * @param joined whether one of the two files imports the other
 * @returns the files that are joined with no open file
 */
export function strayFiles(
  files: readonly string[],
  joined: (one: string, other: string) => boolean,
): string[] {
  const open: string[] = [];
  const strays: string[] = [];
  for (const file of files) {
    const place = open.findLastIndex((one) => joined(one, file));
    if (place < 0 && open.length > 0) {
      strays.push(file);
      continue;
    }
    open.length = place + 1;
    open.push(file);
  }
  return strays;
}
