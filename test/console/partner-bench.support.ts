/** The console, the api and the endpoints of a partner, with members of two partners. Support code, not a test. */
import { CallbackStore, PartnerStore } from '#libs/db';
import { parseDecimal, type PartnerId } from '#libs/domain';
import { hashApiKey, KeyRing, type MintedCredential } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import {
  addPartner,
  type Api,
  seedIndex,
  startApi,
} from '../../apps/api/src/testing/api-harness.support.js';
import { ConsoleSettings } from '../../apps/console/src/console.env.js';
import {
  anAccount,
  ConsoleBench,
  type Place,
} from '../../apps/console/src/testing/console-harness.support.js';
import { type Visitor } from '../../apps/console/src/testing/visitor.support.js';
import {
  API_KEY,
  type Partner,
  SECRET,
  startPartner,
} from '../../apps/partner/src/testing/partner-harness.support.js';

export const WALLET = aWallet(0xabcdef);
export const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');

export interface OwnPartner {
  readonly id: PartnerId;
  readonly name: string;
  readonly credential: MintedCredential;
  readonly prefix: string;
  readonly account: ReturnType<typeof anAccount>;
}

export class PartnerBench {
  private constructor(
    readonly console: ConsoleBench,
    readonly api: Api,
    readonly game: Partner,
    private readonly partners: readonly [acme: OwnPartner, beta: OwnPartner],
  ) {}

  get acme(): OwnPartner {
    return this.partners[0];
  }

  get beta(): OwnPartner {
    return this.partners[1];
  }

  /** @param place default: one console at a port of its own */
  static async start(overrides: Record<string, string> = {}, place?: Place): Promise<PartnerBench> {
    const settings = { SECRETS_KEY, ALLOW_PRIVATE_PARTNERS: 'true', ...overrides };
    const bench = await ConsoleBench.start(settings, {}, place);
    const api = await startApi({}, bench.test);
    // The port of the api is known only after its start.
    for (const app of bench.apps) Object.assign(app.get(ConsoleSettings), { apiUrl: api.url });
    const game = await startPartner({ PARTNER_BASE_PATH: '/game/v1' });
    game.clock.set(bench.clock.nowMs());
    await seedIndex(api, {
      events: [['2026-11-14T10:00:00Z', WALLET, 100]],
      headAt: '2026-11-21T12:00:00Z',
      finalisedAt: '2026-11-21T00:00:00Z',
    });
    const [acme, beta] = [
      await ownPartner(bench, api, 'Acme <b>של</b>'),
      await ownPartner(bench, api, 'Beta'),
    ];
    await new CallbackStore(bench.database).change(acme.id, () => ({
      ...{ url: `http://127.0.0.1:${game.port}/game/v1`, key: API_KEY },
      secretCiphertext: KeyRing.parse(SECRETS_KEY).seal(SECRET, hashApiKey(API_KEY)),
      ...{ usdPerPoint: parseDecimal('0.01'), confirms: true, capabilities: [] },
      dailyTokenBudget: parseDecimal('1000'),
    }));
    return new PartnerBench(bench, api, game, [acme, beta]);
  }

  /** Adds a partner without a callback, for a test that needs one of its own. */
  partner(name: string): Promise<OwnPartner> {
    return ownPartner(this.console, this.api, name);
  }

  /** A visitor who is signed in as a member, by an invitation. */
  async member({ id, account }: OwnPartner): Promise<Visitor> {
    const invitation = await this.console.invitation(id);
    return this.console.signedIn(account, { kind: 'partner', invitation });
  }

  /** Reads a player's points directly from the game's database, since its endpoints limit calls. */
  async pointsOf(address: string): Promise<number> {
    const rows = await this.game.database.query<{ readonly points: string }>({
      text: 'SELECT points FROM game.player WHERE wallet = $1',
      values: [address],
    });
    return Number(rows[0]?.points);
  }

  async stop(): Promise<void> {
    await this.game.stop();
    await this.api.stop();
    await this.console.stop();
  }
}

async function ownPartner(bench: ConsoleBench, api: Api, name: string): Promise<OwnPartner> {
  const credential = await addPartner(api, name);
  const [found] = await new PartnerStore(bench.database).findNamed(name);
  if (found === undefined) throw new Error('the partner was added');
  const id = found.partnerId;
  return { id, name, credential, prefix: credential.apiKey.slice(0, 12), account: anAccount() };
}

/** The JSON body of a successful answer. @throws Error where the answer is not successful */
export async function json<T>(answer: Promise<Response>): Promise<T> {
  const found = await answer;
  const text = await found.text();
  if (!found.ok) throw new Error(`${found.status} ${text}`);
  return JSON.parse(text) as T;
}
