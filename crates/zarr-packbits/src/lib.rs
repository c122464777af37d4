//! Packing of values of any number of bits.

#![no_std]
