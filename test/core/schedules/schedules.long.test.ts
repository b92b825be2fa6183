/** Schedules, with more subscriptions at the same moment. */
import './schedules.test.ts';
