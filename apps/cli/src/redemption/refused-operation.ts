import { PermanentError, type Refusal, type RefusalCode } from '#libs/domain';

/** What to do where a command is refused; absent where the domain's own message says it. */
const INSTEAD: Readonly<Partial<Record<RefusalCode, string>>> = {
  final: 'Nothing can be changed any more; `redemption show` has its end.',
  'needs-operator': 'Settle it: `redemption show` says with which command.',
  'not-in-attention':
    '`redemption show` says what it waits for; `redemption retry` does it now, `redemption cancel` ends it.',
  'call-open': 'A call to the partner is under way: try again in a minute.',
  'vault-not-asked':
    'The service asks the vault before it gives points back: `redemption retry`, and again when its call has been made.',
  'too-late-to-cancel':
    'There is nothing to cancel any more: `redemption retry` asks for the points now.',
  'not-yet-cancellable':
    '`redemption retry` asks the partner now; `redemption set-partner-tx` and `redemption resolve --not-deducted` say what the partner has told you.',
  'not-restorable':
    'Points go back only once a final block proves that the tokens cannot move: `redemption retry` lets the service look again.',
  'transaction-id-known': 'Use `redemption retry`, which reverts that transaction.',
  'deduction-proven':
    'Points that were given back by hand are settled with `redemption resolve --restored-out-of-band`.',
  'contradictory-evidence':
    'Settle it with the partner, then `redemption resolve --settled-by-hand NOTE`; the row stays as the proof.',
  'not-contradictory': '`redemption show` says how.',
  'invalid-transaction-id': 'Take it from the partner exactly, without line breaks.',
};

/** The rules do not allow it; nothing was changed. */
export class RefusedOperationError extends PermanentError {
  constructor({ code, message }: Refusal) {
    const instead = INSTEAD[code];
    const text = instead === undefined ? message : `${message} ${instead}`;
    super(code.replaceAll('-', '_').toUpperCase(), text);
  }
}
