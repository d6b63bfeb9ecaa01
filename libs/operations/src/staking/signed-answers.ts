/** Finds the figures of an answer that were wrong when it was signed, by the log of requests. */
import {
  type CorrectedAnswer,
  type CorrectedFigure,
  type Correction,
  type IndexState,
  type SignedAnswer,
} from '#libs/db';
import {
  type Address,
  averageStaked,
  dayText,
  parseAddress,
  parseDay,
  ratioToNumber,
  tokensToNumber,
} from '#libs/domain';

/** The correct lowest balances of the days before `endDay`, from the repaired index; oldest first. */
export type CorrectAmounts = (
  wallet: Address,
  days: { readonly endDay: number; readonly lastDays: number },
) => Promise<readonly bigint[]>;

export interface AnswerQuestion {
  readonly correction: Correction;
  readonly state: IndexState;
  readonly amounts: CorrectAmounts;
}

type Json = Readonly<Record<string, unknown>>;
type Finder = (body: Json, question: AnswerQuestion) => Promise<CorrectedFigure[]>;

const ROUTES: readonly (readonly [path: RegExp, find: Finder])[] = [
  [/^\/api\/staking\/snapshots$/, snapshotFigures],
  [/^\/api\/staking\/snapshots\/batch$/, batchFigures],
  [/^\/api\/staking\/history$/, historyFigures],
  [/^\/api\/staking\/days\/[^/]+\/proof$/, proofFigures],
];

/** Above so many wallets the log is not searched by their addresses. */
const MOST_PATTERNS = 200;

/** Patterns of LIKE for the paths of answers that a correction may concern. */
export function pathPatterns({ days, blocks }: Correction): string[] {
  const wallets = new Set([...days, ...blocks].map(({ wallet }) => wallet));
  if (wallets.size > MOST_PATTERNS) return ['/api/staking/%'];
  return ['/api/staking/snapshots/batch%', ...[...wallets].map((wallet) => `%${wallet}%`)];
}

/** @returns undefined if the answer is right, or is of another stake set */
export async function correctedAnswer(
  signed: SignedAnswer,
  question: AnswerQuestion,
): Promise<CorrectedAnswer | undefined> {
  const [path = ''] = signed.path.split('?');
  const find = ROUTES.find(([route]) => route.test(path))?.[1];
  const text = signed.body.toString('utf8');
  if (find === undefined || !isOfSet(text, signed, question)) return undefined;
  const { request, requestId, partnerId, at, method } = signed;
  const answer = { request, requestId, partnerId, at, method, path: signed.path };
  if (signed.body.length < signed.bodyBytes) {
    return mayConcern(text, question) ? { answer, isCertain: false, figures: [] } : undefined;
  }
  const body = parsed(text);
  const figures = body === undefined ? [] : await find(body, question);
  return figures.length > 0 ? { answer, isCertain: true, figures } : undefined;
}

const STAKE_CONTRACT = /"stakeContract":"(0x[0-9a-f]{40})"/;
const ASKED_CONTRACT = /[?&]contract=[^&]*(0x[0-9a-f]{40})/;

/** The beginning of a long answer may not hold the contract. */
function isOfSet(
  text: string,
  { path, stakeSet }: SignedAnswer,
  { correction, state }: AnswerQuestion,
): boolean {
  const [, named] = STAKE_CONTRACT.exec(text) ?? ASKED_CONTRACT.exec(path.toLowerCase()) ?? [];
  return named === undefined ? stakeSet === correction.stakeSet : named === state.stakeContract;
}

const BATCH_WINDOW = /"endDay":"([0-9-]{10})","lastDays":(\d+)/;

/** Whether an answer of which only the beginning is known may hold a wrong figure. */
function mayConcern(text: string, { correction }: AnswerQuestion): boolean {
  const [, end = '', count] = BATCH_WINDOW.exec(text) ?? [];
  const lastDay = parseDay(end);
  if (lastDay === undefined) return true;
  const firstDay = lastDay - Number(count) + 1;
  return correction.days.some((wrong) => wrong.firstDay <= lastDay && wrong.lastDay >= firstDay);
}

async function snapshotFigures(body: Json, question: AnswerQuestion): Promise<CorrectedFigure[]> {
  const { correction, state, amounts } = question;
  const wallet = walletOf(body);
  const entries = recordsOf(body['stakingSnapshots']);
  const lastDay = dayOfText(entries.at(-1)?.['from']);
  if (wallet === undefined || lastDay === undefined) return [];
  const wrong = correction.days.filter((one) => one.wallet === wallet);
  const figures: CorrectedFigure[] = [];
  for (const entry of entries) {
    const day = dayOfText(entry['from']) ?? NaN;
    const found = wrong.find(({ firstDay, lastDay: last }) => firstDay <= day && day <= last);
    if (found === undefined) continue;
    const signed = figureOf(entry['snapshotAmount']);
    const correct = tokensToNumber(found.correct, state.tokenDecimals);
    if (signed === correct) continue;
    const field = 'snapshotAmount';
    figures.push({ walletAddress: wallet, field, day: dayText(day), signed, correct });
  }
  if (figures.length === 0) return [];
  const minima = await amounts(wallet, { endDay: lastDay + 1, lastDays: entries.length });
  const average = averageStaked(minima, entries.length, state.tokenDecimals);
  return [
    {
      ...{ walletAddress: wallet, field: 'averageStakedAmount', day: dayText(lastDay) },
      signed: figureOf(body['averageStakedAmount']),
      correct: ratioToNumber(average.numerator, average.denominator),
    },
    ...figures,
  ];
}

async function batchFigures(body: Json, question: AnswerQuestion): Promise<CorrectedFigure[]> {
  const figures: CorrectedFigure[] = [];
  for (const result of recordsOf(body['results'])) {
    const [own] = recordsOf([result['body']]);
    if (own !== undefined) figures.push(...(await snapshotFigures(own, question)));
  }
  return figures;
}

function historyFigures(
  body: Json,
  { correction, state }: AnswerQuestion,
): Promise<CorrectedFigure[]> {
  const wallet = walletOf(body);
  const intervals = recordsOf(body['intervals']);
  const amounts = new Map(intervals.map((one) => [one['fromBlock'], one['stakedAmount']]));
  const after = typeof body['after'] === 'number' ? body['after'] : -1;
  const upTo = typeof body['next'] === 'number' ? body['next'] : Infinity;
  const figures: CorrectedFigure[] = [];
  for (const { wallet: own, block, correct } of correction.blocks) {
    if (wallet === undefined || own !== wallet || block <= after || block > upTo) continue;
    const signed = figureOf(amounts.get(block));
    const right = correct === null ? null : tokensToNumber(BigInt(correct), state.tokenDecimals);
    const field = 'stakedAmount';
    if (signed !== right)
      figures.push({ walletAddress: wallet, field, block, signed, correct: right });
  }
  return Promise.resolve(figures);
}

function proofFigures(body: Json, { correction }: AnswerQuestion): Promise<CorrectedFigure[]> {
  const wallet = walletOf(body);
  const day = dayOfText(recordsOf([body['day']])[0]?.['day']) ?? NaN;
  const found = correction.days.find(
    (one) => one.wallet === wallet && one.firstDay <= day && day <= one.lastDay,
  );
  const signed = figureOf(body['low']);
  if (found === undefined || signed === String(found.correct)) return Promise.resolve([]);
  const correct = String(found.correct);
  return Promise.resolve([
    { walletAddress: found.wallet, field: 'low', day: dayText(day), signed, correct },
  ]);
}

function walletOf(body: Json): Address | undefined {
  const { walletAddress } = body;
  return typeof walletAddress === 'string' ? parseAddress(walletAddress) : undefined;
}

function dayOfText(value: unknown): number | undefined {
  return typeof value === 'string' ? parseDay(value.slice(0, 10)) : undefined;
}

function figureOf(value: unknown): number | string | null {
  return typeof value === 'number' || typeof value === 'string' ? value : null;
}

function recordsOf(value: unknown): readonly Json[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [];
  return all.filter((one): one is Json => typeof one === 'object' && one !== null);
}

function parsed(text: string): Json | undefined {
  try {
    return recordsOf([JSON.parse(text)])[0];
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
