import { Matches, MinLength } from 'class-validator';
import { commaList, LISTEN_HOST_SETTING, ServiceSettings, Setting } from '#libs/config';
import { parseAddress } from '#libs/domain';
import { type NewPlayer } from './store/players.js';

/** Printable ASCII without blanks, which a header carries unchanged. */
const HEADER_TEXT = /^[\x21-\x7e]+$/;
const BASE_PATH = /^(?:\/[A-Za-z0-9._~-]+)+$/;
const PLAYER = /^(0x[0-9a-fA-F]{40})=(\d{1,15})$/;

function players(text: string): NewPlayer[] {
  return commaList(text).map((part) => {
    const [, address = '', points] = PLAYER.exec(part) ?? [];
    const wallet = parseAddress(address);
    if (wallet === undefined) throw new Error('must be a list such as 0x…=5000,0x…=100');
    return { wallet, points: Number(points) };
  });
}

/** Settings of the reference partner. Its database is the game's own; it reads nothing of the service. */
export class PartnerSettings extends ServiceSettings {
  @Setting({
    description: 'The port of the reference partner.',
    default: '4000',
    min: 0,
    max: 65_535,
  })
  readonly partnerPort!: number;

  @Setting(LISTEN_HOST_SETTING)
  readonly listenHost!: string;

  @Setting({
    description: 'The key that the service sends in X-API-KEY when it calls the reference partner.',
    secret: true,
  })
  @MinLength(16)
  @Matches(HEADER_TEXT, { message: 'must be printable ASCII without blanks' })
  readonly partnerApiKey!: string;

  @Setting({
    description:
      'Signs the calls to the reference partner and its answers; not decoded, not trimmed.',
    secret: true,
  })
  @MinLength(16)
  readonly partnerSharedSecret!: string;

  @Setting({
    description:
      'The path in front of the four endpoints, such as /game/v1. It is signed, so no proxy may change it. Unset: none.',
    optional: true,
  })
  @Matches(BASE_PATH, { message: 'must be a path such as /game/v1, without a slash at its end' })
  readonly partnerBasePath?: string;

  @Setting({
    description:
      'Players of the demonstration, made at the start where they do not exist: wallet=points, separated by commas. On its local chain npm start adds them to its own.',
    optional: true,
    parse: players,
  })
  readonly partnerPlayers?: NewPlayer[];
}
