/**
 * The commands of the pages without containers: what ./lowmark and compose run in a container is typed as the program
 * itself, and what needs an engine or would change the clone is left out. `npm run test:compose` runs ./lowmark on a
 * real engine.
 */
const SECRETS = 'node dist/apps/stack/src/compose/secrets.main.js';
const CLI = 'npm run --silent cli --';
/** The remaining words of a command. */
const WORDS = String.raw`(?:'[^']*'|"[^"]*"|\\\n|[^'"&|;)#\n])*`;

const PROGRAMS: readonly (readonly [typed: RegExp, by: (root: string) => string])[] = [
  [/\.\/lowmark (?:local )?cli\b/g, () => CLI],
  [/\.\/lowmark (?:local )?(doctor|index|console)\b/g, () => `${CLI} $1`],
  [/\.\/lowmark migrate\b/g, (root) => `${SECRETS} base ${root} && npm run migrate`],
  // Restarted programs get the secrets again.
  [new RegExp(String.raw`\./lowmark restart ${WORDS}`, 'g'), (root) => `${SECRETS} base ${root} `],
  [/\.\/lowmark secret (show|set) (\w+)/g, (root) => `${SECRETS} $1 ${root} $2`],
  [/docker compose exec (?:-T )?postgres /g, () => ''],
  [
    /docker compose run --rm --no-deps redemption node dist\/apps\/cli\/src\/main\.js\b/g,
    (root) => `EVIDENCE_KEY_FILE=${root}/for/redemption/evidence_key ${CLI}`,
  ],
  [/docker compose run --rm --no-deps migrate node dist\/apps\/cli\/src\/main\.js\b/g, () => CLI],
];

/** Commands that are left out, by their first words, with the reasons. A test demands that each entry is needed. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  './lowmark': 'needs an engine',
  'docker tag': 'needs an engine',
  kubectl: 'needs a cluster',
  'git pull': 'would change the clone under test',
  'npm ci': 'would change the modules of the clone under test; .ci/prepare runs it',
  'npm prune': 'would remove what the tests run on',
  'npx nest build': 'would delete the build under test',
  'node apps/web/build.mjs': 'would delete the pages under test',
  'npm run start:': 'servers; test/restarts, test/stack and test/start start them',
  'node --max-semi-space-size=32 dist/apps/indexer/src/main.js':
    'a server; runs beside the commands',
  'cast call': 'is no tool of ours',
};
const LEFT_OUT_CALL = new RegExp(
  `(?:${Object.keys(LEFT_OUT)
    .map((words) => words.replaceAll('.', String.raw`\.`))
    .join('|')})${WORDS}`,
  'g',
);

/** @param root the folder of the secrets */
export function withoutContainers(code: string, root: string): string {
  const typed = PROGRAMS.reduce((text, [words, by]) => text.replace(words, by(root)), code);
  return typed.replace(LEFT_OUT_CALL, 'true ');
}

/** Whether a command of the code is run without containers. */
export function runsWithoutContainers(code: string): boolean {
  const commands = withoutContainers(code, '').replace(/#.*$/gm, '');
  return commands.replace(/\btrue\b|\b[A-Z_]+=\S+|[&|\s\\]/g, '') !== '';
}
