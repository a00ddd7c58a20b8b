import { BadRequestException, GoneException, Logger, ServiceUnavailableException } from '@nestjs/common';
import { DatabaseError } from 'pg';

const logger = new Logger('Contracts');

/** Turns the errors of the projection's functions, and of a database that does not answer, into answers. */
export async function answering<A>(asked: Promise<A>): Promise<A> {
  try {
    return await asked;
  } catch (error) {
    const code = error instanceof DatabaseError ? error.code : undefined;
    switch (code) {
      // undefined_object and ambiguous_alias: of a type. The hint has the names there are
      case '42704':
      case '42P09':
        throw new BadRequestException(error instanceof DatabaseError ? [error.message, error.hint] : undefined);
      // numeric_value_out_of_range: an offset of a page that nobody knows about any more
      case '22003':
        throw new GoneException('the contracts at this offset are not known any more: begin with the first page');
      // the tables or the database are not available; details would help only an attacker
      default:
        logger.warn(`a query has failed: ${code ?? (error instanceof Error ? error.message : 'unknown')}`);
        throw new ServiceUnavailableException('the contracts cannot be read now', { cause: error });
    }
  }
}
