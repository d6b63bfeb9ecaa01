import { type ArgumentMetadata, Injectable, Optional, ValidationPipe } from '@nestjs/common';
import { type ValidationError } from 'class-validator';
import { HttpProblem } from './http-problem.js';

/**
 * Requests as instances of their DTO: exact types, nothing coerced, what is not declared left out. The first message of the first
 * wrong field, in the order of the class, becomes the answer.
 */
@Injectable()
export class StrictValidationPipe extends ValidationPipe {
  /** @param notAnObject what is said of a body that is no JSON object */
  constructor(@Optional() private readonly notAnObject = 'The body must be a JSON object.') {
    super({
      transform: true,
      whitelist: true,
      stopAtFirstError: true,
      validationError: { target: false, value: false },
      exceptionFactory: ([first]) => problemOf(first),
    });
  }

  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type === 'body' && !isObject(value)) {
      throw new HttpProblem(400, this.notAnObject, { field: 'body' });
    }
    return super.transform(value, metadata);
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function problemOf(error: ValidationError | undefined): HttpProblem {
  const [message = 'The request is malformed.'] = Object.values(error?.constraints ?? {});
  return new HttpProblem(400, message, error && { field: error.property });
}
