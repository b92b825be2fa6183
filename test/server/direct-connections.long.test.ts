/** Direct connections, with requests split at every byte. */
import './direct-connections.test.ts';
