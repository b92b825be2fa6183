/** The texts of the schedules in English. */

export const schedules = {
  name: 'Name',
  state: 'State',
  active: 'Active',
  deleted: 'Deleted',
  finished: 'Ended',
  interval: 'Every',
  next: 'Next charge',
  payments: 'Payments',
  firstPayment: 'First payment',
  none: 'No schedules',
  noneHint: 'A merchant creates one with CREATE_SCHEDULE.',
};
