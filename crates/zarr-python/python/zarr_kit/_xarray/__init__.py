"""The parts of `zarr_kit.xarray`."""
