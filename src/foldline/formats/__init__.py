"""Wire formats and transcript files: conversion between bytes and `Transcript`."""
