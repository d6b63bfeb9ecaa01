import { PermanentError, type Refusal, type RefusalCode } from '#libs/domain';
import { type ActionWords, asCommand, asTitle } from '../text/action-words.js';

const REMEDIES: Readonly<Partial<Record<RefusalCode, (say: ActionWords) => string>>> = {
  final: () => 'Nothing can be changed now; `redemption show` says how it ended.',
  'needs-operator': () => 'Settle it: `redemption show` says with which command.',
  'not-in-attention': (say) =>
    `\`redemption show\` says what it waits for; ${say('retry')} does it now, ${say('cancel')} ends it.`,
  'call-open': () => 'A call to the partner is under way: try again in a minute.',
  'vault-not-asked': (say) =>
    `The service asks the vault before it gives points back: ${say('retry')}, and again when its call has been made.`,
  'too-late-to-cancel': (say) =>
    `There is nothing left to cancel: ${say('retry')} asks for the points now.`,
  'not-yet-cancellable': (say) =>
    `${say('retry')} asks the partner now; ${say('set-partner-tx')} and ${say('not-deducted')} say what the partner has told you.`,
  'not-restorable': (say) =>
    `Points go back only once a final block proves that the tokens cannot move: ${say('retry')} lets the service look again.`,
  'transaction-id-known': (say) => `Use ${say('retry')}, which reverts that transaction.`,
  'deduction-proven': (say) =>
    `Points that were given back by hand are settled with ${say('restored-out-of-band')}.`,
  'contradictory-evidence': (say) =>
    `Settle it with the partner, then ${say('settled-by-hand')}; the row stays as the proof.`,
  'not-contradictory': () => '`redemption show` says how.',
  'invalid-transaction-id': () => 'Take it from the partner exactly, without line breaks.',
};

/** The rules do not allow the event. Nothing was changed. */
export class RefusedOperationError extends PermanentError {
  readonly refusal: RefusalCode;
  /** What to do instead; undefined where the domain's own message says so. */
  readonly instead: string | undefined;
  /** The message with the titles of actions in the place of their commands. */
  readonly onPages: string;

  constructor({ code, message }: Refusal) {
    const remedy = REMEDIES[code];
    const instead = remedy?.(asCommand);
    const text = instead === undefined ? message : `${message} ${instead}`;
    super(code.replaceAll('-', '_').toUpperCase(), text);
    this.refusal = code;
    this.instead = instead;
    this.onPages = remedy === undefined ? message : `${message} ${remedy(asTitle)}`;
  }
}
