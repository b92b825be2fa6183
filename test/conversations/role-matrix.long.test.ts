/** Every route, as every role, with and without a restriction. */
import './role-matrix.test.ts';
