import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import { type ValidationError } from 'class-validator';

/**
 * A request as its DTO says: exact types, nothing coerced, unknown fields left out. The first field that is wrong is told.
 * @param refuse makes the error of it
 * @param notAnObject what is said of a body that is no JSON object
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
    // In a path it names what there is not, which is 404.
    if (metadata.type === 'query') this.refuseNul(value);
    return (await super.transform(value, metadata)) as unknown;
  }

  /** PostgreSQL takes no text with it. */
  private refuseNul(value: unknown): void {
    const fields = isObject(value) ? Object.entries(value as object) : [['query', value]];
    for (const [field, text] of fields as [string, unknown][]) {
      if (!String(text).includes('\0')) continue;
      throw this.refuse(field, `${field} must not have the character NUL.`);
    }
  }
}

/** Of an object within the request the field that is wrong. */
function innermost(fault: ValidationError | undefined): ValidationError | undefined {
  const [child] = fault?.children ?? [];
  return child === undefined ? fault : innermost(child);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
