import { type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { catchError, type Observable, throwError } from 'rxjs';

/** Answers the refusals of operations as HTTP problems. */
export class RefusalsInterceptor implements NestInterceptor {
  /** @param problemOf returns an error that is not a refusal as it is */
  constructor(private readonly problemOf: (error: unknown) => unknown) {}

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next
      .handle()
      .pipe(catchError((error: unknown) => throwError(() => this.problemOf(error))));
  }
}
