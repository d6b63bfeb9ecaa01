import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import { type ValidationError } from 'class-validator';

const HALF_PAIR = /\p{Surrogate}/u;

/**
 * Validates a request against its DTO: exact types, no coercion, unknown fields removed. The error names the first
 * wrong field.
 * @param refuse makes the error
 * @param notAnObject the message for a body that is no JSON object
 */
@Injectable()
export class StrictPipe extends ValidationPipe {
  constructor(
    private readonly refuse: (field: string, message: string) => Error,
    private readonly notAnObject = 'The body must be a JSON object.',
  ) {
    super({
      transform: true,
      whitelist: true,
      stopAtFirstError: true,
      exceptionFactory: ([first]) => {
        const { property = 'body', constraints = {} } = innermost(first) ?? {};
        const [message = `${property} is not valid.`] = Object.values(constraints);
        return refuse(property, message);
      },
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type === 'body' && !isObject(value)) {
      throw this.refuse('body', this.notAnObject);
    }
    // A path parameter with these characters names a resource that does not exist: the route answers 404.
    if (metadata.type === 'body' || metadata.type === 'query') {
      this.requireStorable(value, metadata.type);
    }
    return (await super.transform(value, metadata)) as unknown;
  }

  /** PostgreSQL does not store text with NUL or with half of a surrogate pair. */
  private requireStorable(value: unknown, field: string): void {
    if (typeof value === 'object' && value !== null) {
      const isList = Array.isArray(value);
      for (const [name, inner] of Object.entries(value)) {
        this.requireStorable(inner, isList ? field : name);
      }
    }
    if (typeof value !== 'string') return;
    if (value.includes('\0')) {
      throw this.refuse(field, `${field} must not have the character NUL.`);
    }
    if (HALF_PAIR.test(value)) {
      throw this.refuse(field, `${field} must not have half of a surrogate pair.`);
    }
  }
}

/** For a nested object, returns the error of the inner field. */
function innermost(fault: ValidationError | undefined): ValidationError | undefined {
  const [child] = fault?.children ?? [];
  return child === undefined ? fault : innermost(child);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
