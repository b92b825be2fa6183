/** Every crash point of every operation. */
import './crash-points.test.ts';
