/** The publication of sealed days on chain, as operators see it. */
import {
  type Database,
  NoSuchPublicationError,
  type Publication,
  type PublicationStatus,
  type PublicationSummary,
  PublicationViews,
  PublishableDays,
  type RegistryPlace,
} from '#libs/db';
import { buildPeriodTree, dayText, type NodeHash, PermanentError } from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { type Clock } from '#libs/platform';
import { audited, type Operator } from '../audit/audited.js';

export interface PublicationLine {
  /** A UTC day, for example `2026-01-31`. */
  readonly firstDay: string;
  readonly lastDay: string;
  readonly kind: Publication['kind'];
  readonly status: PublicationStatus;
  readonly root: NodeHash;
  /** The transaction that was signed last for the publication. */
  readonly transactionHash: string | null;
  readonly nonce: number | null;
  readonly reason: string | null;
  readonly acknowledged: boolean;
}

export interface RegistryStatus extends Omit<PublicationSummary, 'lastDay'>, RegistryPlace {
  readonly lastDay: string | null;
  /** First days of publications whose days were sealed anew after publication, without the acknowledged ones. */
  readonly revisedDays: readonly string[];
  /** Newest first. */
  readonly publications: readonly PublicationLine[];
}

/** @param database of the stake set */
export async function registryStatus(
  database: Database,
  place: RegistryPlace,
  limit: number,
): Promise<RegistryStatus> {
  const views = new PublicationViews(database, place);
  const { lastDay, ...summary } = await views.summary();
  const revised = await views.revised();
  return {
    ...place,
    ...summary,
    lastDay: lastDay === null ? null : dayText(lastDay),
    revisedDays: revised.map(dayText),
    publications: (await views.page(limit)).map(lineOf),
  };
}

/** The arguments of `openDay`, in their order. Days are counted from 1970-01-01 UTC. */
export interface OpeningProof {
  readonly firstDay: number;
  readonly day: number;
  readonly root: NodeHash;
  readonly proof: readonly NodeHash[];
}

/**
 * The proof by which one day of a published period is opened on chain.
 * @param database of the stake set
 * @throws PermanentError PERIOD_NOT_PUBLISHED, PERIOD_REVISED
 */
export async function openingProof(
  database: Database,
  place: RegistryPlace,
  day: number,
): Promise<OpeningProof> {
  const publication = await new PublicationViews(database, place).ofDay(day);
  const isThere = publication?.status === 'mined' || publication?.status === 'final';
  if (publication?.kind !== 'period' || !isThere) {
    throw new PermanentError(
      'PERIOD_NOT_PUBLISHED',
      `${dayText(day)} is in no published period: \`registry status\` lists them. A day that is published by itself needs no proof.`,
    );
  }
  const { firstDay, revisions } = publication;
  const roots = await new PublishableDays(database).roots(firstDay, revisions);
  const tree = roots && buildPeriodTree(roots, await createKeccak256());
  const found = tree?.root === publication.root ? tree.prove(day) : undefined;
  if (found === undefined) {
    throw new PermanentError(
      'PERIOD_REVISED',
      `The days from ${dayText(firstDay)} on are not those that were published: the index was made anew. Restore staking.sealed_day from a backup to open them.`,
    );
  }
  return { firstDay, ...found };
}

/**
 * Notes that a person has looked into a day whose root on chain differs from that of the service, so that the day
 * raises no alert any more.
 * @param database of the stake set
 * @throws NoSuchPublicationError
 */
export function acknowledgePublication(
  { database, clock, operator }: { database: Database; clock: Clock; operator: Operator },
  place: RegistryPlace,
  { day, note }: { readonly day: number; readonly note: string },
): Promise<void> {
  const given = { day: dayText(day), registry: place.registry, note };
  return audited(database, { ...operator, arguments: given }, {}, async () => {
    const views = new PublicationViews(database, place);
    const request = { day, note, ...operator, arguments: given, nowMs: clock.nowMs() };
    if (!(await views.acknowledge(request))) throw new NoSuchPublicationError(dayText(day));
  });
}

function lineOf(publication: Publication): PublicationLine {
  const { kind, status, root, reason, transaction, sender, acknowledgedAt } = publication;
  return {
    ...{ firstDay: dayText(publication.firstDay), lastDay: dayText(publication.lastDay) },
    ...{ kind, status, root, reason, acknowledged: acknowledgedAt !== null },
    transactionHash: transaction?.hash ?? null,
    nonce: sender?.nonce ?? null,
  };
}
