import { redact } from '#libs/platform';

const LONGEST = 255;

/** An argument as the audit keeps it, whatever was typed: bounded, without a credential of ours, and what jsonb can hold. */
export function auditedText(text: string): string {
  // By characters: half of a pair is nothing that jsonb takes.
  return Array.from(redact(text).replaceAll('\0', '')).slice(0, LONGEST).join('');
}
