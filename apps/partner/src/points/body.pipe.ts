import { type PipeTransform } from '@nestjs/common';
import { parseStrictJson } from '../http/strict-json.js';
import { type Fields, readFields } from './fields.js';

/** Makes a body of its bytes, once the guard has found them authentic. */
export class BodyPipe<T extends object> implements PipeTransform<unknown, T> {
  constructor(private readonly fields: Fields<T>) {}

  /** @throws Refusal ERR-INTERNAL */
  transform(bytes: unknown): T {
    return readFields(
      parseStrictJson(Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0)),
      this.fields,
    );
  }
}
