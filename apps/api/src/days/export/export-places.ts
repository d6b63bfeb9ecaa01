import { HttpProblem } from '#libs/service';

/** At once in this process: few enough that connections to the database are left for everything else. */
const PLACES = 4;
/** Of them for one partner. */
const PLACES_OF_PARTNER = 2;
const RETRY_AFTER_SECONDS = 10;

/** Bounds how many lists are sent at once. */
export class ExportPlaces {
  private readonly taken: string[] = [];

  get count(): number {
    return this.taken.length;
  }

  /** @returns gives the place back @throws HttpProblem 429 (the partner has its places), 503 (all are taken) */
  take(partnerId: string): () => void {
    const retryAfterSeconds = RETRY_AFTER_SECONDS;
    const own = this.taken.filter((one) => one === partnerId).length;
    if (own >= PLACES_OF_PARTNER) {
      const message = `${PLACES_OF_PARTNER} lists are being sent to you: read one of them first.`;
      throw new HttpProblem(429, message, { retryAfterSeconds });
    }
    if (this.taken.length >= PLACES) {
      throw new HttpProblem(503, 'Many lists are being sent: try again shortly.', {
        retryAfterSeconds,
      });
    }
    this.taken.push(partnerId);
    return () => void this.taken.splice(this.taken.indexOf(partnerId), 1);
  }
}
