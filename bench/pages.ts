/**
 * Lighthouse's results for a page of the running system (`npm start` first), with Lighthouse's own slow network and
 * slow processor of a phone. Needs Chromium; CHROME_PATH names its path where it is not found.
 *
 *   npm run bench -- pages [--url http://127.0.0.1:3003/redeem] [--runs 5] [--form mobile|desktop]
 */
import { launch } from 'chrome-launcher';
import lighthouse, { desktopConfig, type Result } from 'lighthouse';
import { fixed, median, table } from './support/figures.js';
import { numberOf, readOptions } from './support/options.js';

const options = readOptions({ url: 'http://127.0.0.1:3003/redeem', runs: '5', form: 'mobile' });

const CATEGORIES = ['performance', 'accessibility', 'best-practices'] as const;
const TIMES = [
  'first-contentful-paint',
  'largest-contentful-paint',
  'total-blocking-time',
] as const;

async function main(): Promise<void> {
  const results: Result[] = [];
  for (let run = 0; run < numberOf(options.runs); run += 1) results.push(await look());
  table(
    ['median of the runs', 'figure'],
    [
      ...CATEGORIES.map((name) => [
        name,
        fixed(100 * middle(results, ({ categories }) => categories[name]?.score ?? 0), 0),
      ]),
      ...TIMES.map((name) => [
        `${name}, ms`,
        fixed(
          middle(results, ({ audits }) => audits[name]?.numericValue ?? Number.NaN),
          0,
        ),
      ]),
      ['script, kB compressed', fixed(middle(results, scriptBytes) / 1000, 1)],
    ],
  );
  // Prints the findings of the last run.
  for (const audit of Object.values(results.at(-1)?.audits ?? {})) {
    if (audit.score !== null && audit.score < 0.9) console.log(`  ${audit.id}: ${audit.title}`);
  }
}

async function look(): Promise<Result> {
  const chromeFlags = ['--headless=new', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
  const chrome = await launch({ chromeFlags });
  try {
    const config = options.form === 'desktop' ? desktopConfig : undefined;
    const flags = { port: chrome.port, onlyCategories: [...CATEGORIES] };
    const found = await lighthouse(options.url, flags, config);
    if (found === undefined) throw new Error('Lighthouse found nothing.');
    const { runtimeError } = found.lhr;
    if (runtimeError) throw new Error(`${options.url}: ${runtimeError.message}`);
    return found.lhr;
  } finally {
    chrome.kill();
  }
}

function middle(results: readonly Result[], of: (result: Result) => number): number {
  return median(results.map(of));
}

function scriptBytes({ audits }: Result): number {
  const details = audits['network-requests']?.details;
  const items = details?.type === 'table' ? details.items : [];
  return items
    .filter(({ resourceType }) => resourceType === 'Script')
    .reduce((sum, { transferSize }) => sum + Number(transferSize), 0);
}

await main();
