import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { PermanentError } from '#libs/domain';

/** PostgreSQL's default. */
const ITERATIONS = 4096;
const SALT_BYTES = 16;
const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;

/**
 * The form in which PostgreSQL stores a password (RFC 5803). Sent instead of the password, it keeps the password out of
 * statements, and so out of the server's log and of pg_stat_activity.
 * @throws PermanentError PASSWORD_UNUSABLE where the password is not printable ASCII, because it would have to
 * be normalised (RFC 4013)
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(SALT_BYTES)): string {
  if (!PRINTABLE_ASCII.test(password)) {
    throw new PermanentError(
      'PASSWORD_UNUSABLE',
      'The password of a database role must be printable ASCII: openssl rand -hex 32 makes one.',
    );
  }
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const serverKey = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
