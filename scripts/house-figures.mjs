/**
 * Prints figures on the size and the readability of the code: `npm run figures`.
 *
 * Production code is every .ts and .tsx file below apps/ and libs/, except specs and their support (*.spec.ts,
 * *-spec.ts), files in a folder called test or testing (so all of libs/testing), generated files (*.generated.ts) and
 * built files (dist, node_modules). Test code is the rest of it but generated and built files, and test/. A room is an
 * app or a library. Lines are all lines, including comments and empty lines.
 */
import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { walksOf } from '../test/docs/walks.ts';

const SHORT_LINES = 25;
const MADE = /\.generated\.ts$|(^|\/)(dist|node_modules)\//;
const TEST = /[.-](spec|support)\.tsx?$|(^|\/)(test|testing)\//;
const VAGUE = /\b(whoever|somebody|nobody|anybody)\b/i;

const paths = globSync('{apps,libs,test}/**/*.{ts,tsx}').filter((path) => !MADE.test(path));
const files = paths
  .filter((path) => !TEST.test(path))
  .map((path) => {
    const text = readFileSync(path, 'utf8');
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    return { path, lines: linesOf(text), text, nodes: nodesOf(source, source) };
  });
const nodes = files.flatMap((file) => file.nodes);
const lengths = files.map(({ lines }) => lines).sort((a, b) => a - b);

const figures = [
  ['production files', files.length],
  ['production lines', sumOf(lengths)],
  ['test lines', sumOf(paths.filter((path) => TEST.test(path)).map(linesIn))],
  ['words of documentation', sumOf(globSync(['*.md', 'docs/**/*.md']).map(wordsIn))],
  ['median file length', median(lengths)],
  [`files of at most ${SHORT_LINES} lines`, lengths.filter((n) => n <= SHORT_LINES).length],
  ['methods called run', nodes.filter(isRunMethod).length],
  ['types called …Parts', nodes.filter(isBagOfParts).length],
  ['uses of Pick<', nodes.filter(isPick).length],
  ['vague comment lines', files.reduce((sum, file) => sum + vagueLines(file), 0)],
  ...walksOf(readFileSync('docs/ARCHITECTURE.md', 'utf8')).map((walk) => [
    `files ${walk.title.replace(/^From/, 'from')}`,
    walk.files.length,
  ]),
];
const rooms = Map.groupBy(files, ({ path }) => path.split('/', 2).join('/'));
const lines = [...rooms].map(([room, its]) => [
  room,
  `${sumOf(its.map((file) => file.lines))} lines in ${its.length} files`,
]);
const width = Math.max(...[...figures, ...lines].map(([name]) => name.length));
for (const [name, figure] of [...figures, ...lines.sort()])
  console.log(`${name.padEnd(width)} ${figure}`);

function linesOf(text) {
  return text.split('\n').length - 1;
}

function linesIn(path) {
  return linesOf(readFileSync(path, 'utf8'));
}

function wordsIn(path) {
  return readFileSync(path, 'utf8').split(/\s+/).filter(Boolean).length;
}

function sumOf(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** All nodes including the tokens, since comments belong to tokens. */
function nodesOf(node, source) {
  return [node, ...node.getChildren(source).flatMap((child) => nodesOf(child, source))];
}

function median(sorted) {
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Methods of classes and objects. Interfaces are not counted, since their methods would count twice. */
function isRunMethod(node) {
  return ts.isMethodDeclaration(node) && node.name.getText() === 'run';
}

function isBagOfParts(node) {
  const isType = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
  return isType && node.name.text.endsWith('Parts');
}

function isPick(node) {
  const name = ts.isTypeReferenceNode(node)
    ? node.typeName
    : ts.isExpressionWithTypeArguments(node) && node.expression;
  return name && name.getText() === 'Pick';
}

function vagueLines({ text, nodes }) {
  const comments = new Map();
  for (const { pos, end } of nodes) {
    const ranges = [ts.getLeadingCommentRanges(text, pos), ts.getTrailingCommentRanges(text, end)];
    for (const range of ranges.flatMap((found) => found ?? [])) comments.set(range.pos, range.end);
  }
  const lines = [...comments].flatMap(([from, to]) => text.slice(from, to).split('\n'));
  return lines.filter((line) => VAGUE.test(line)).length;
}
