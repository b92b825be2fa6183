/** Clients that close their side, with sales split at every byte. */
import './half-close.test.ts';
