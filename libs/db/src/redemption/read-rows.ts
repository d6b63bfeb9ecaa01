/** Rows of redemption.redemption as they are read: with what their MAC says, and each by itself. */
import { evidenceContent, namesContent } from '#libs/domain';
import { type EvidenceSeal } from './evidence-seal.js';
import { UnreadableRedemptionError } from './redemption.error.js';
import { type RedemptionRow } from './redemption-columns.js';
import { placeOf, redemptionOf, type StoredRedemption } from './redemption-row.js';

/** @throws UnreadableRedemptionError */
export function storedOf(row: RedemptionRow, seal?: EvidenceSeal): StoredRedemption {
  try {
    const redemption = redemptionOf(row);
    const place = placeOf(row);
    const content = seal && evidenceContent(redemption, place);
    const isSealed = content !== undefined && seal?.verify(content, row.evidence_mac) === true;
    const names = namesContent(redemption);
    const namesAreOurs =
      seal !== undefined && (names === undefined || seal.verify(names, row.names_mac));
    return {
      redemption,
      place,
      ...(isSealed && { isSealed }),
      ...(namesAreOurs && { namesAreOurs }),
    };
  } catch (error) {
    throw new UnreadableRedemptionError(row.id, error);
  }
}

export interface ReadRows {
  readonly found: StoredRedemption[];
  readonly unreadable: UnreadableRedemptionError[];
}

/** Each row by itself: one that cannot be read holds up no other. */
export function readRows(rows: readonly RedemptionRow[], seal?: EvidenceSeal): ReadRows {
  const read: ReadRows = { found: [], unreadable: [] };
  for (const row of rows) {
    try {
      read.found.push(storedOf(row, seal));
    } catch (error) {
      if (!(error instanceof UnreadableRedemptionError)) throw error;
      read.unreadable.push(error);
    }
  }
  return read;
}
