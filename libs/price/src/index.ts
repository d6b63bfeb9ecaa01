export {
  type PriceReader,
  type PriceReaderParts,
  type PriceReading,
  priceReader,
  PriceRefusedError,
  PriceUnavailableError,
} from './price-reader.js';
export { nameOfSource, parsePriceSource, type PriceSource } from './price-source.js';
