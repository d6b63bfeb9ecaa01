/** Finds the answers that corrections concern, and writes the events for the partners. */
import {
  type CorrectedAnswer,
  type Correction,
  type CorrectionEvent,
  CorrectionStore,
  type Database,
  type IndexState,
  IndexStore,
  SnapshotStore,
  walletDaysFrom,
} from '#libs/db';
import { canonicalJson, dailyMinima, type PartnerId, windowBefore } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { requireIndex } from '#libs/verification';
import {
  type AnswerQuestion,
  type CorrectAmounts,
  correctedAnswer,
  pathPatterns,
} from './signed-answers.js';

const EVENT = 'answers.corrected';
/** Bytes of the answers in one event, whose payload may have 20 KiB. The page for partners has all of them. */
const MOST_ANSWER_BYTES = 15_000;

export interface ToldCorrection {
  readonly correction: string;
  readonly partners: readonly {
    readonly partnerId: PartnerId;
    /** Answers with a wrong figure, and those of which the log has only the beginning. */
    readonly answers: number;
    readonly mayBeWrong: number;
  }[];
}

interface TellContext {
  readonly database: Database;
  readonly stakeSet: string;
  readonly clock: Clock;
  readonly onProgress: (said: string) => void;
}

/** Completes all corrections of the stake set that are not told yet. */
export async function tellCorrections(context: TellContext): Promise<ToldCorrection[]> {
  const { database, stakeSet, clock } = context;
  const store = new CorrectionStore(database);
  const state = await requireIndex(new IndexStore(database));
  const told: ToldCorrection[] = [];
  for (const correction of await store.untold(stakeSet)) {
    const answers = await answersOf(context, correction, state);
    const byPartner = new Map<PartnerId, CorrectedAnswer[]>();
    for (const one of answers) {
      const { partnerId } = one.answer;
      byPartner.set(partnerId, [...(byPartner.get(partnerId) ?? []), one]);
    }
    const timestamp = new Date(clock.nowMs()).toISOString();
    const events = [...byPartner].map(([partnerId, own]) =>
      eventOf(correction, { partnerId, own, timestamp }),
    );
    await store.tell(correction, answers, events);
    const partners = [...byPartner].map(([partnerId, own]) => {
      const answers = own.filter(({ isCertain }) => isCertain).length;
      return { partnerId, answers, mayBeWrong: own.length - answers };
    });
    told.push({ correction: correction.id, partners });
  }
  return told;
}

async function answersOf(
  { database, onProgress }: TellContext,
  correction: Correction,
  state: IndexState,
): Promise<CorrectedAnswer[]> {
  const question: AnswerQuestion = { correction, state, amounts: amountsFrom(database) };
  const found: CorrectedAnswer[] = [];
  let searched = 0;
  const store = new CorrectionStore(database);
  for await (const page of store.signedAnswers(correction.at, pathPatterns(correction))) {
    for (const signed of page) {
      const answer = await correctedAnswer(signed, question);
      if (answer !== undefined) found.push(answer);
    }
    searched += page.length;
    onProgress(`${searched} answers searched, ${found.length} concerned`);
  }
  return found;
}

function amountsFrom(database: Database): CorrectAmounts {
  const store = new SnapshotStore(database);
  return async (wallet, { endDay, lastDays }) => {
    const read = await store.read([{ wallet, endDay }]);
    const days = walletDaysFrom(read?.daysTexts[0] ?? '[]');
    return dailyMinima(days, windowBefore(endDay, lastDays)).map(({ minimum }) => minimum);
  };
}

function eventOf(
  { id, at, stakeSet, reason }: Correction,
  {
    partnerId,
    own,
    timestamp,
  }: {
    readonly partnerId: PartnerId;
    readonly own: readonly CorrectedAnswer[];
    readonly timestamp: string;
  },
): CorrectionEvent {
  const answers: object[] = [];
  let bytes = 0;
  for (const { answer, isCertain, figures } of own) {
    const { request, requestId, at: requestedAt } = answer;
    const entry = { request, requestId, requestedAt, isCertain, figures };
    bytes += Buffer.byteLength(JSON.stringify(entry));
    if (bytes > MOST_ANSWER_BYTES) break;
    answers.push(entry);
  }
  const data = {
    ...{ correction: id, correctedAt: at, stakeSet, reason, count: own.length, answers },
  };
  // Times become texts first: canonical JSON knows none.
  const payload = canonicalJson(JSON.parse(JSON.stringify({ type: EVENT, timestamp, data })));
  return { partnerId, type: EVENT, payload };
}
