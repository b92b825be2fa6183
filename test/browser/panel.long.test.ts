/** Every page of the panel, in the light and in the dark. */
import './panel.test.ts';
