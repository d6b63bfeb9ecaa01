/**
 * The base string of a signature: method + path without the query + body, byte for byte. See docs/wire/signature.md.
 */
import { createHash } from 'node:crypto';
import { ApiSchema } from '@nestjs/swagger';
import { Field } from '#libs/openapi';
import { pathOf, verifySignature } from '#libs/signing';

@ApiSchema({ name: 'SignedBytes' })
export class BaseStringBody {
  @Field.Text('As UTF-8.') readonly text!: string;
  @Field.Whole() readonly bytes!: number;
  @Field.Text('SHA-256 of the bytes, in hex.') readonly sha256!: string;
  @Field.Flag('Whether these are all the bytes; of a long answer only the beginning is kept.')
  readonly isWhole!: boolean;
}

interface Answered {
  readonly method: string;
  /** The path with the query, one character per byte. */
  readonly target: string;
  readonly body: Buffer;
  readonly isWhole: boolean;
}

/** The bytes that are signed. Node represents each byte of a request target as one character, hence `latin1`. */
export function signedBytes({ method, target, body }: Answered): Buffer {
  const head = Buffer.from(method + pathOf(target), 'latin1');
  return method === 'HEAD' ? head : Buffer.concat([head, body]);
}

export function baseString(answered: Answered): BaseStringBody {
  const bytes = signedBytes(answered);
  return {
    text: bytes.toString('utf8'),
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    isWhole: answered.isWhole,
  };
}

/** Null where some of the signed bytes were not kept. */
export function verifies(answered: Answered, secret: string, signature: string): boolean | null {
  return answered.isWhole ? verifySignature(secret, signedBytes(answered), signature) : null;
}
